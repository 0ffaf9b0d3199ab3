import { expect, test } from 'vitest'
import type { AuditRow } from '../../server/contract/audit.ts'
import { isRestorable } from '../../server/contract/audit-action.ts'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { row as auditRow } from '../shared/changes/audit-row.testing.ts'
import { planRestore } from './restore-dialog.tsx'

const address = 'tcp://127.0.0.1:8530'
const row = (
  action: AuditRow['action'],
  before: string[] | null,
  after: string[] | null,
  outcome: AuditRow['outcome'] = 'done',
): AuditRow =>
  auditRow({
    action,
    target: address,
    outcome,
    before: before && { databases: before },
    after: after && { databases: after },
  })

const at = (databases: string[] | null, policy: Policy | null = null) => ({ databases, policy })
const time = Date.parse('2026-05-01T12:00:00Z')
const plan = (one: AuditRow, now: ReturnType<typeof at>) => planRestore(one, now, time)

test('a restore reverts mappings, additions and removals', () => {
  const changes = [
    plan(row('endpoint.map', ['blog'], []), at([])),
    plan(row('endpoint.add', null, ['blog']), at(['blog'])),
    plan(row('endpoint.remove', ['blog'], null), at(null)),
  ]
  expect(changes).toEqual([
    { kind: 'change', change: { address, before: [], after: ['blog'] }, conflict: false },
    { kind: 'change', change: { address, before: ['blog'], after: null }, conflict: false },
    { kind: 'change', change: { address, before: null, after: ['blog'] }, conflict: false },
  ])
})

test('a later change is a conflict, and the same state needs no change', () => {
  expect(plan(row('endpoint.map', ['blog'], ['shop']), at(['news']))).toEqual({
    kind: 'change',
    change: { address, before: ['news'], after: ['blog'] },
    conflict: true,
  })
  expect(plan(row('endpoint.map', ['blog'], ['shop']), at(['blog']))).toEqual({ kind: 'same' })
  expect(plan(row('endpoint.add', null, ['blog']), at(null))).toEqual({ kind: 'same' })
})

test('rejected changes and other actions cannot be restored', () => {
  expect(isRestorable(row('endpoint.map', null, null, 'refused'))).toBe(false)
  expect(isRestorable(row('database.drop', null, null))).toBe(false)
  const odd = { ...row('endpoint.map', null, []), before: { databases: 'blog' } }
  expect(plan(odd, at([]))).toEqual({ kind: 'impossible' })
})

test('a removed endpoint is restored with its policy, and without a time that has passed', () => {
  const policy = { readOnly: true, closesAt: '2026-05-01T11:00:00Z' }
  const removal = {
    ...row('endpoint.remove', null, null),
    before: { databases: ['blog'], policy },
  }
  const change = { address, before: null, after: ['blog'] }
  const rules = { before: null, after: { readOnly: true } }
  expect(plan(removal, at(null))).toEqual({
    kind: 'change',
    change: { ...change, policy: rules },
    conflict: false,
  })
  // Undoing the restored removal of an endpoint gives back the policy that it has now.
  expect(plan(row('endpoint.add', null, ['blog']), at(['blog'], policy))).toMatchObject({
    change: { after: null, policy: { before: policy, after: null } },
  })
})

test('a change of a policy is reverted, if its endpoint exists', () => {
  const now = { readOnly: true }
  const before = { note: 'For the partner', closesAt: '2026-05-01T13:00:00Z' }
  const set = {
    ...row('policy.set', null, null),
    before: { policy: before },
    after: { policy: now },
  }
  const change = { address, before: ['blog'], after: ['blog'] }
  expect(plan(set, at(['blog'], now))).toEqual({
    kind: 'change',
    change: { ...change, policy: { before: now, after: before } },
    conflict: false,
  })
  expect(planRestore(set, at(['blog'], now), time + 3_600_000)).toMatchObject({
    change: { policy: { after: { note: 'For the partner' } } },
  })
  expect(plan(set, at(['blog'], { enabled: false }))).toMatchObject({ conflict: true })
  expect(plan(set, at(['blog'], before))).toEqual({ kind: 'same' })
  expect(plan(set, at(null))).toEqual({ kind: 'removed' })
  const added = { ...set, before: null }
  expect(plan(added, at([], now))).toMatchObject({ change: { policy: { after: null } } })
})
