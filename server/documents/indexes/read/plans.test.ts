import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Store } from '../../../storage/store.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository } from '../../repository/stored-documents.ts'

forEachEngine((engine) => {
  let store: Store
  /** The statements that read entries of indexes. PostgreSQL keeps a plan for all values of each. */
  let statements: string[]

  beforeEach(async () => {
    store = await engine.open()
    statements = []
    const add = (text: string) => {
      if (text.includes('index_entries')) statements.push(text)
    }
    createDocumentRepository({
      ...store,
      prepareRead(query) {
        add(query.sql)
        return store.prepareRead(query)
      },
      prepareLookup(query, limits) {
        add(query.sql)
        return store.prepareLookup(query, limits)
      },
    })
  })

  async function planOf(statement: string): Promise<string> {
    const explain = engine.name === 'sqlite' ? 'explain query plan' : 'explain (generic_plan)'
    const { rows } = await sql<object>`${sql.raw(`${explain} ${statement}`)}`.execute(store.db)
    return rows
      .map((row) => ('detail' in row ? row.detail : Object.values(row).join('\n')))
      .join('\n')
  }

  const byId =
    engine.name === 'sqlite'
      ? /documents USING INDEX sqlite_autoindex_documents_1 \(.* AND id=\?\)/
      : /documents_key on documents .*\n *Index Cond: .*\(id = /
  const avoided =
    engine.name === 'sqlite'
      ? /SCAN (?:index_entries|documents|document_indexes)|TEMP B-TREE/
      : /Seq Scan on (?:index_entries|documents)\b|Bitmap|Hash|Sort/

  async function expectIndexes() {
    expect(statements.length).toBeGreaterThan(3)
    for (const statement of statements) {
      const plan = await planOf(statement)
      expect(plan).toMatch(/index_entries_key|PRIMARY KEY/)
      if (/\bdocuments\b/.test(statement)) expect(plan).toMatch(byId)
      expect(plan).not.toMatch(avoided)
    }
  }

  test.each([0, 3, 60, 20_000])(
    'entries and their documents are read by their keys, in tables of %i documents',
    async (count) => {
      // Without statistics of the tables, and with them.
      await expectIndexes()
      await sql`
      insert into documents select '_system', 'articles', cast(n as text), '', '{}' from (
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
        select n from numbers where n <= ${count}) as numbers`.execute(store.db)
      await sql`
      insert into index_entries (index_id, key, id) select 1, ${Buffer.of(1)}, id
      from documents`.execute(store.db)
      await sql.raw(engine.name === 'sqlite' ? 'analyze' : 'vacuum analyze').execute(store.db)
      await expectIndexes()
    },
  )
})
