import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import type { Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository, type DocumentRepository } from './stored-documents.ts'

const where = { database: '_system', collection: 'articles' }
const MAX_BYTES = 1024 * 1024

forEachEngine((engine) => {
  let store: Store
  let repository: DocumentRepository

  beforeEach(async () => {
    store = await engine.open()
    repository = createDocumentRepository(store)
  })

  /** Returns the ids that are read with their sizes, or undefined if they are read separately. */
  const readWithSizes = async (after: string | undefined, limit: number, isDescending = false) => {
    const range = { after, isDescending }
    const { documents, last, bytes } = await repository.extent(where, range, limit, MAX_BYTES)
    const listed = await repository.list(where, range, limit)
    expect(last).toBeUndefined()
    expect(bytes).toBe(listed.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0))
    if (documents !== undefined) expect(documents).toEqual(listed)
    return documents?.map(({ id }) => id)
  }

  test('small documents are read with their sizes on PostgreSQL', async () => {
    const ids = ['b', 'é', 'Z', 'a']
    await repository.insert(
      where,
      ids.map((id) => ({ id, body: JSON.stringify({ id, name: '😀' }) })),
    )
    const hasSmallPages = engine.name === 'postgres'
    const [all, last] = await Promise.all([readWithSizes(undefined, 101), readWithSizes('b', 1)])
    expect(all).toEqual(hasSmallPages ? ['Z', 'a', 'b', 'é'] : undefined)
    expect(last).toEqual(hasSmallPages ? ['é'] : undefined)
    const [reversed, previous] = await Promise.all([
      readWithSizes(undefined, 101, true),
      readWithSizes('é', 2, true),
    ])
    expect(reversed).toEqual(hasSmallPages ? ['é', 'b', 'a', 'Z'] : undefined)
    expect(previous).toEqual(hasSmallPages ? ['b', 'a'] : undefined)
    expect(await readWithSizes(undefined, 102)).toBeUndefined()
    await repository.insert(where, [{ id: 'large', body: `"${'x'.repeat(5_000)}"` }])
    expect(await readWithSizes(undefined, 101)).toBeUndefined()
    expect(await readWithSizes('large', 101)).toEqual(hasSmallPages ? ['é'] : undefined)
  })

  if (engine.name === 'sqlite') return

  test('the cached plans need no sort', async () => {
    const statements: string[] = []
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    createDocumentRepository({
      ...store,
      prepareLookup(query, limits) {
        statements.push(query.sql)
        return store.prepareLookup(query, limits)
      },
    })
    const pages = statements.filter((text) => text.includes('as page'))
    expect(pages).toHaveLength(2)
    await client.query(`
      insert into documents select '_system', 'articles', md5(n::text), '', '{}'
      from generate_series(1, 20000) as n`)
    await client.query('analyze documents')
    await client.query("set plan_cache_mode = 'force_generic_plan'")
    for (const [at, page] of pages.entries()) {
      await client.query(`prepare page${at} (text, text, text, text) as ${page}`)
      const { rows } = await client.query(
        `explain execute page${at} ('_system', 'articles', 'a', '101')`,
      )
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(/Index Scan (Backward )?using documents/)
      expect(plan).not.toMatch(/Seq Scan|Sort/)
    }
    await client.end()
  })
})
