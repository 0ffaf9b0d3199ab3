import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../../concurrency/time-slice.ts'
import { parseFieldList } from '../../../contract/query/field-path.ts'
import type { IndexDefinition } from '../definition.ts'
import { entriesOf, entriesOfAll, entryKeysOf } from './entries.ts'

const fields = parseFieldList('a.b', 'fields')
const index: IndexDefinition = { id: 1, name: 'by-b', fields, isUnique: false, state: 'ready' }

test.each([entriesOf, entryKeysOf])(
  'documents that take a time slice take a turn: %o',
  async (of) => {
    let [time, turns] = [0, 0]
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += TIME_SLICE))
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    const documents = Array.from({ length: 10 }, (_, at) => ({
      id: `${at}`,
      body: `{"id":"${at}"}`,
    }))
    const entries = await entriesOfAll([index], documents, (each, parsed) =>
      of([index], each, parsed),
    )
    clearImmediate(next)
    clock.mockRestore()
    expect(entries.map(({ id }) => id)).toEqual(documents.map(({ id }) => id))
    expect(turns).toBeGreaterThanOrEqual(10)
  },
)
