import { expect, it, vi } from 'vitest'
import { PIECE_LENGTH } from '../contract/json/parse-json-in-steps.ts'
import { createTestRules } from './document-rules.testing.ts'

it('parses large fields of a filter in several turns', async () => {
  let turns = 0
  const nextTurn = async () => void turns++
  const { matcher } = createTestRules(() => 0, { nextTurn })
  const body = JSON.stringify({ id: '1', a: { list: Array(50_000).fill({}), x: 1 } })
  const parse = vi.spyOn(JSON, 'parse')
  const found = await Promise.all(['1', '2'].map((x) => matcher([['a.x', x]])(body)))
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
  parse.mockRestore()
  expect(found).toEqual([true, false])
  expect(turns).toBeGreaterThan(2)
  expect(longest).toBeLessThan(PIECE_LENGTH + 10)
})
