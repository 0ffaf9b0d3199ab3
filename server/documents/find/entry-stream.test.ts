import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../concurrency/turns.ts'
import { countTurns } from '../../test-support/count-turns.testing.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import type { IndexEntry } from '../indexes/read/index-reader.ts'
import { EntryStream, mergeStreams } from './entry-stream.ts'

const where = { database: 'd', collection: 'c' }
const index: IndexDefinition = { id: 1, name: 'i', fields: [], isUnique: false, state: 'ready' }
const STREAMS = 64
const EACH = 50

/** Returns streams of entries with equal keys, and the number of ids that were compared so far. */
function createStreams() {
  let compared = 0
  const entryOf = (key: Buffer, stream: number, at: number): IndexEntry => ({
    key,
    bytes: 2,
    document: undefined,
    get id() {
      compared++
      return `${1_000 + at}-${10 + stream}`
    },
  })
  const streams = Array.from({ length: STREAMS }, (_, stream) => {
    const prefix = Buffer.of(stream)
    const entries = Array.from({ length: EACH }, (_, at) => entryOf(prefix, stream, at))
    const reader = {
      entries: async (_: unknown, __: unknown, ___: unknown, limit: number) =>
        entries.splice(0, limit),
    }
    const range = { lower: prefix, upper: Buffer.of(stream + 1) }
    return new EntryStream(reader, where, index, { prefix, ranges: [range] }, false)
  })
  return { streams, compared: () => compared }
}

const expected = Array.from(
  { length: STREAMS * EACH },
  (_, at) => `${1_000 + Math.floor(at / STREAMS)}-${10 + (at % STREAMS)}`,
)

test('entries of many streams are merged with few comparisons', async () => {
  const { streams, compared } = createStreams()
  const merged: IndexEntry[] = []
  for (const limit of [1, 2, 997, 1_000, 5_000]) {
    merged.push(...(await mergeStreams(streams, limit)))
  }
  // Of two ids each.
  const comparisons = compared() / 2
  expect(merged.map(({ id }) => id)).toEqual(expected)
  expect(comparisons).toBeLessThan((merged.length + 5 * STREAMS) * Math.log2(2 * STREAMS))
})

test('other work runs before a merge, and during one that takes time', async () => {
  let time = 0
  const merge = (limit: number) => countTurns(() => mergeStreams(createStreams().streams, limit))
  expect(await merge(10)).toBeGreaterThanOrEqual(1)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += TIME_SLICE))
  try {
    expect(await merge(100)).toBeGreaterThanOrEqual(100)
  } finally {
    clock.mockRestore()
  }
})
