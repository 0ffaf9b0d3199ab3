import { expect, test } from 'vitest'
import type { AuditRow } from '../../../server/contract/audit.ts'
import { row } from './audit-row.testing.ts'
import { describeChange, textOf } from './describe-change.ts'
import { groupChanges } from './group-changes.ts'

test('a bulk change is one entry, also for people who do not see its first row', () => {
  const change = 'c'
  const [third, second] = [row({ seq: 3, change }), row({ seq: 2, change })]
  const first = row({ seq: 1, change, action: 'endpoint.change', after: { changes: 2 } })
  const other = row({ seq: 9 })
  expect(groupChanges([other, third, second, first])).toEqual([
    { row: other, changes: [] },
    { row: first, changes: [third, second] },
  ])
  const sentence = (rows: AuditRow[]) => {
    const [entry] = groupChanges(rows)
    return textOf(describeChange(entry?.row ?? other))
  }
  expect(sentence([third, second, row({ seq: 0 })])).toBe('Operator changed 2 endpoints')
  // More of its changes may follow.
  expect(sentence([third, second])).toBe('Operator changed endpoints')
  expect(groupChanges([third])).toEqual([{ row: third, changes: [] }])
  expect(groupChanges([third, first])).toEqual([{ row: first, changes: [third] }])
  expect(groupChanges([first])).toEqual([{ row: first, changes: [] }])
})

test('a bulk change of one endpoint is the first of its changes', () => {
  const change = 'c'
  const removal = row({ seq: 2, change, action: 'endpoint.remove' })
  const bulk = row({ seq: 1, change, action: 'endpoint.change', after: { changes: 1 } })
  expect(groupChanges([removal, bulk])).toEqual([{ row: removal, changes: [] }])
  const added = row({ seq: 2, change, action: 'endpoint.add', target: 'tcp://127.0.0.1:8530' })
  const ruled = { ...added, seq: 3, action: 'policy.set' as const }
  const [both] = groupChanges([ruled, added, bulk])
  expect(both?.changes).toEqual([ruled, added])
  expect(both?.row.seq).toBe(bulk.seq)
  expect(textOf(describeChange(both?.row ?? bulk))).toBe(
    'Operator added endpoint tcp://127.0.0.1:8530 for shop',
  )
  const undo = row({ seq: 1, change, action: 'endpoint.change-undo', after: { changes: 1 } })
  expect(groupChanges([removal, undo])).toEqual([{ row: undo, changes: [removal] }])
})
