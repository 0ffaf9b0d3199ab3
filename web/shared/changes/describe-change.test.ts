import { expect, test } from 'vitest'
import type { AuditRow } from '../../../server/contract/audit.ts'
import { row } from './audit-row.testing.ts'
import { describeChange, textOf } from './describe-change.ts'

const role = (before: string, after: string, databases?: string[] | null) => ({
  action: 'person.role' as const,
  target: 'github:2',
  targetName: 'Eve',
  before: { role: before },
  after: { role: after, ...(databases === undefined ? {} : { databases }) },
})
const ada = { actor: 'github:1', actorName: 'Ada' }

test.each<[string, Partial<AuditRow>]>([
  ['Operator mapped tcp://127.0.0.1:8531 to shop', {}],
  [
    'ci-deploy (token of Ada) mapped tcp://127.0.0.1:8531 to shop',
    { ...ada, by: 'token', token: 'ci-deploy' },
  ],
  ['Ada (by token) mapped tcp://127.0.0.1:8531 to shop', { ...ada, by: 'token' }],
  [
    'Operator added endpoint tcp://127.0.0.1:8531 for every database',
    { action: 'endpoint.add', after: { databases: [] } },
  ],
  [
    'Operator mapped tcp://127.0.0.1:8531 to a, b, c and 2 more',
    { after: { databases: ['a', 'b', 'c', 'd', 'e'] } },
  ],
  ["Operator removed Eve's access", role('editor', 'none')],
  ['Operator gave Eve access as editor for blog', role('pending', 'editor', ['blog'])],
  ["Operator changed Eve's role to viewer", role('editor', 'viewer')],
  ['Operator limited Eve to blog', role('viewer', 'viewer', ['blog'])],
  ['Operator gave Eve access to every database', role('viewer', 'viewer', null)],
  [
    'Ada tried to drop database shop',
    { ...ada, action: 'database.drop', target: 'shop', outcome: 'refused' },
  ],
  [
    'Ada tried to create a database',
    { ...ada, action: 'database.create', target: '', outcome: 'refused' },
  ],
  [
    'Ada imported 1,200 documents into shop/orders',
    {
      ...ada,
      action: 'collection.import',
      target: 'shop/orders',
      after: { created: 1000, replaced: 200 },
    },
  ],
  [
    'Ada deleted collection shop/orders with 1 document',
    { ...ada, action: 'collection.delete', target: 'shop/orders', after: { deleted: 1 } },
  ],
  ['Ada created index by-year of a/b', { ...ada, action: 'index.create', target: 'a/b/by-year' }],
  ['Ada created token ci', { ...ada, action: 'token.create', target: 'github:1/ci' }],
  ['Operator revoked token ci of github:1', { action: 'token.revoke', target: 'github:1/ci' }],
  [
    'Operator invited Nora as editor for blog',
    { action: 'invitation.create', after: { role: 'editor', databases: ['blog'], note: 'Nora' } },
  ],
  [
    'Someone tried to sign in 30 more times',
    {
      actor: 'anonymous',
      by: 'system',
      action: 'session.fail',
      outcome: 'refused',
      target: 'further failed sign-ins',
      after: { failures: 30, addresses: 2 },
    },
  ],
  [
    'Operator changed 12 endpoints and removed 2 of them',
    { action: 'endpoint.change', after: { changes: 12, removals: 2 } },
  ],
])('%s', (sentence, over) => {
  expect(textOf(describeChange(row(over)))).toBe(sentence)
})
