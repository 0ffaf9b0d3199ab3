import { afterEach, expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../../concurrency/time-slice.ts'
import { PIECE_LENGTH } from '../../../contract/json/parse-json-in-steps.ts'
import { parseFieldList } from '../../../contract/query/field-path.ts'
import type { IndexDefinition } from '../definition.ts'
import { entriesInTurns, entriesOf, entryKeysOf, type Indexed } from './entries.ts'

const fields = parseFieldList('a.b', 'fields')
const index: IndexDefinition = { id: 1, name: 'by-b', fields, isUnique: false, state: 'ready' }

afterEach(() => void vi.restoreAllMocks())

/** Returns the number of turns that the entries of documents take. */
async function turnsFor(documents: readonly Indexed[], of: typeof entriesOf | typeof entryKeysOf) {
  let turns = 0
  const nextTurn = async () => void turns++
  const indexes = [index]
  const entries = await entriesInTurns(
    indexes,
    documents,
    (each, parsed) => of(indexes, each, parsed),
    nextTurn,
  )
  expect(entries.map(({ id }) => id)).toEqual(documents.map(({ id }) => id))
  return turns
}

test.each([entriesOf, entryKeysOf])(
  'documents that take a time slice take a turn: %o',
  async (of) => {
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (time += TIME_SLICE))
    const documents = Array.from({ length: 10 }, (_, at) => ({
      id: `${at}`,
      body: `{"id":"${at}"}`,
    }))
    expect(await turnsFor(documents, of)).toBe(10)
  },
)

test.each([entriesOf, entryKeysOf])('a large field is parsed in pieces: %o', async (of) => {
  const body = JSON.stringify({ id: '1', a: { list: Array(60_000).fill({}), b: 1 } })
  const parse = vi.spyOn(JSON, 'parse')
  expect(await turnsFor([{ id: '1', body }], of)).toBeGreaterThanOrEqual(4)
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
  expect(longest).toBeLessThan(PIECE_LENGTH + 10)
})
