import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../indexes/write/stored-entries.testing.ts'
import { afterStatement, pauseAfterOpeningIndexes } from '../after-statement.testing.ts'
import { createDocumentRepository } from '../stored-documents.ts'

const where = { database: '_system', collection: 'articles' }
const documents = ['a', 'b', 'c', 'd'].map((id) => ({ id, body: JSON.stringify({ id }) }))

forEngine('postgres', (engine) => {
  /** Opens a store that has the first document, and counts its transactions. */
  async function openCounted() {
    const store = await engine.open()
    await createDocumentRepository(store).insert(where, documents.slice(0, 1))
    const transaction = vi.spyOn(store, 'transaction')
    return { repository: createDocumentRepository(store), transaction }
  }

  test.each([
    [false, 'exists'],
    [true, 'replaced'],
  ])(
    'documents that exist need no second transaction (replaces: %o)',
    async (replaces, outcome) => {
      const { repository, transaction } = await openCounted()
      const written = await repository.write(where, documents, { replaces })
      expect(written).toEqual([outcome, 'created', 'created', 'created'])
      expect(transaction).toHaveBeenCalledTimes(1)
    },
  )

  test.each([
    [false, 'exists'],
    [true, 'replaced'],
  ])('documents that others insert meanwhile are written (replaces: %o)', async (...given) => {
    const [replaces, outcome] = given
    const { repository, transaction } = await openCounted()
    const other = new pg.Client((engine.location() as { databaseUrl: string }).databaseUrl)
    await other.connect()
    await other.query('begin')
    await other.query(
      `insert into documents select database, collection, 'c', 'other', body from documents`,
    )
    const commits: unknown[] = []
    const writing = repository.write(where, documents, {
      replaces,
      async commit(_, written) {
        commits.push(written)
      },
    })
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(1)
    await other.query('commit')
    expect(await writing).toEqual([outcome, 'created', outcome, 'created'])
    expect(commits).toEqual([[outcome, 'created', outcome, 'created']])
    expect(transaction).toHaveBeenCalledTimes(2)
    const { rows } = await other.query(`select id from documents where tag <> 'other' order by id`)
    expect(rows.map(({ id }) => id)).toEqual(replaces ? ['a', 'b', 'c', 'd'] : ['a', 'b', 'd'])
    await other.end()
  })

  test.each(['create', 'delete'])(
    'the loop that builds indexes waits for documents that are being written: %s',
    async (change) => {
      const store = await engine.open()
      const waiting = Promise.withResolvers<void>()
      // Lists the transactions that write documents.
      const db = afterStatement(store.db, 'pg_locks', async (rows) => {
        if (rows.length > 0) waiting.resolve()
      })
      const indexes = openIndexesOf({ ...store, db })
      if (change === 'delete') {
        await indexes.put(where, 'by-n', ['n'])
        await indexes.build()
      }
      const paused = pauseAfterOpeningIndexes(store)
      const repository = createDocumentRepository(paused.store)
      const writing = repository.write(where, documents, { replaces: false })
      await paused.paused
      if (change === 'create') await indexes.put(where, 'by-n', ['n'])
      else await indexes.delete(where, 'by-n')
      const building = indexes.build()
      await Promise.race([waiting.promise, building])
      paused.resume()
      await Promise.all([writing, building])
      const states = await store.db.selectFrom('document_indexes').select('state').execute()
      expect(states).toEqual(change === 'create' ? [{ state: 'ready' }] : [])
      await expectEntriesOfDocuments(store)
    },
  )
})
