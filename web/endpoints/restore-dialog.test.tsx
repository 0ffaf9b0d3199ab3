import { expect, test } from 'vitest'
import type { AuditRow } from '../../server/contract/audit.ts'
import { isRestorable } from '../../server/contract/audit-action.ts'
import { planRestore } from './restore-dialog.tsx'

const address = 'tcp://127.0.0.1:8530'
const row = (
  action: AuditRow['action'],
  before: string[] | null,
  after: string[] | null,
  outcome: AuditRow['outcome'] = 'done',
): AuditRow => ({
  seq: 7,
  at: '2026-01-01T00:00:00Z',
  actor: 'local:operator',
  by: 'session',
  address: null,
  action,
  target: address,
  outcome,
  before: before && { databases: before },
  after: after && { databases: after },
  hash: '',
  change: null,
})

test('a restore reverts mappings, additions and removals', () => {
  const changes = [
    planRestore(row('endpoint.map', ['blog'], []), []),
    planRestore(row('endpoint.add', null, ['blog']), ['blog']),
    planRestore(row('endpoint.remove', ['blog'], null), null),
  ]
  expect(changes).toEqual([
    { kind: 'change', change: { address, before: [], after: ['blog'] }, conflict: false },
    { kind: 'change', change: { address, before: ['blog'], after: null }, conflict: false },
    { kind: 'change', change: { address, before: null, after: ['blog'] }, conflict: false },
  ])
})

test('a later change is a conflict, and the same state needs no change', () => {
  expect(planRestore(row('endpoint.map', ['blog'], ['shop']), ['news'])).toEqual({
    kind: 'change',
    change: { address, before: ['news'], after: ['blog'] },
    conflict: true,
  })
  expect(planRestore(row('endpoint.map', ['blog'], ['shop']), ['blog'])).toEqual({ kind: 'same' })
  expect(planRestore(row('endpoint.add', null, ['blog']), null)).toEqual({ kind: 'same' })
})

test('rejected changes and other actions cannot be restored', () => {
  expect(isRestorable(row('endpoint.map', null, null, 'refused'))).toBe(false)
  expect(isRestorable(row('database.drop', null, null))).toBe(false)
  const odd = { ...row('endpoint.map', null, []), before: { databases: 'blog' } }
  expect(planRestore(odd, [])).toEqual({ kind: 'impossible' })
})
