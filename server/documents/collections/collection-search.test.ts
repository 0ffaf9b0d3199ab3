import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { ScanLimit, type ScanStep } from '../find/scan-limit.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { keyOfValues } from '../indexes/index-key.ts'
import type { Filter } from '../query/filter.ts'
import { createCollectionSearch } from './collection-search.ts'

const where = { database: '_system', collection: 'articles' }

forEachEngine((engine) => {
  let store: Store
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(async () => {
    store = await engine.open()
    indexes = openIndexesOf(store)
    await indexes.put(where, 'by-a', ['a'])
    await indexes.build()
  })

  /** Adds entries of documents whose ids have this many characters and end with numbers. */
  async function addEntries(
    count: number,
    length: number,
    { value = 'x', first = 0, step = 1 } = {},
  ): Promise<void> {
    const [index] = await store.db.selectFrom('document_indexes').selectAll().execute()
    const key = keyOfValues([value], [{ path: ['a'], isDescending: false }]).bytes
    const rows = JSON.stringify(Array.from({ length: count }, (_, n) => first + n * step))
    const ids =
      engine.name === 'sqlite'
        ? sql`json_each(${rows})`
        : sql`json_array_elements_text(cast(${rows} as json)) as each(value)`
    const id = 'x'.repeat(length - 6)
    await sql`
      insert into index_entries (index_id, key, id)
      select cast(${index?.id} as bigint), cast(${key} as ${sql.raw(engine.name === 'sqlite' ? 'blob' : 'bytea')}),
        cast(${id} as text) || cast(100000 + cast(value as integer) as text)
      from ${ids}`.execute(store.db)
    // So that PostgreSQL does not sort all entries for each read.
    await sql`analyze index_entries`.execute(store.db)
  }

  const select = (filter: Filter = [['a', 'x']], step: ScanStep = async (run) => run()) =>
    createCollectionSearch(store, new ScanLimit()).select(where, filter, step)

  test('an index selects the documents of a change', async () => {
    await addEntries(300, 9)
    expect(await select()).toHaveLength(300)
  })

  test('the ids that an index selects are sorted in parts', async () => {
    await addEntries(3_000, 9, { value: 'x', first: 1, step: 2 })
    await addEntries(3_000, 9, { value: 'y', step: 2 })
    const lengths: number[] = []
    const sort = vi.spyOn(Array.prototype, 'sort')
    const ids = await select([['a:gte', 'x']])
    for (const [at, each] of sort.mock.contexts.entries()) {
      if (sort.mock.calls[at]?.[0] === compareCodePoints) lengths.push((each as string[]).length)
    }
    sort.mockRestore()
    expect(ids).toEqual(Array.from({ length: 6_000 }, (_, at) => `xxx${100_000 + at}`))
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2_250)
  })

  test.each([
    ['documents', 100_001, 7],
    ['characters', 8_400, 1_000],
  ])('a change of too many %s is not selected by an index', async (_, count, length) => {
    await addEntries(count, length)
    expect(await select()).toBeUndefined()
  })

  test('an index that is dropped while its entries are read selects no documents', async () => {
    await addEntries(300, 9)
    let isDropped = false
    const found = await select(undefined, async (run) => {
      const result = await run()
      if (!isDropped) await indexes.delete(where, 'by-a')
      isDropped = true
      return result
    })
    expect(found).toBeUndefined()
  })
})
