import { expect, test } from 'vitest'
import { row } from '../shared/changes/audit-row.testing.ts'
import { toCsv } from './export-activity.ts'

test('CSV has the token and the name of the caller, quotes, and no formulas', () => {
  const rows = [
    row({ token: '=1+1', actorName: 'Ada, "A"', before: null, after: { databases: ['a', 'b'] } }),
  ]
  const [head, line, end] = toCsv(rows).split('\r\n')
  expect(head).toMatch(/^seq,at,actor,actorName,by,token,/)
  expect(line).toContain(`,"Ada, ""A""",session,'=1+1,`)
  expect(line).toContain('"{""databases"":[""a"",""b""]}"')
  expect(end).toBe('')
})
