import { expect, test } from 'vitest'
import type { AuditRow } from '../../server/contract/audit.ts'
import { labelOfRow } from './action-labels.ts'

test.each<[AuditRow['action'], AuditRow['outcome'], string]>([
  ['token.create', 'done', 'Token created'],
  ['token.create', 'refused', 'Create token'],
  ['session.fail', 'refused', 'Sign in'],
])('%s with the outcome %s reads %j', (action, outcome, label) => {
  expect(labelOfRow({ action, outcome })).toBe(label)
})
