import pg from 'pg'
import { expect, test } from 'vitest'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository } from '../repository.ts'

const where = { database: '_system', collection: 'articles' }
const documents = ['a', 'b', 'c', 'd'].map((id) => ({ id, body: JSON.stringify({ id }) }))

forEngine('postgres', (engine) => {
  test.each([
    [false, 'exists'],
    [true, 'replaced'],
  ])(
    'documents that others insert at the same time are written (replaces: %o)',
    async (...given) => {
      const [replaces, outcome] = given
      const store = await engine.open()
      const repository = createDocumentRepository(store)
      await repository.insert(where, documents.slice(0, 1))
      const other = new pg.Client((engine.location() as { databaseUrl: string }).databaseUrl)
      await other.connect()
      await other.query('begin')
      await other.query(`insert into documents select database, collection, 'c', 'other', body
      from documents`)
      const commits: unknown[] = []
      const writing = repository.write(where, documents, replaces, async (_, written) => {
        commits.push(written)
      })
      await expect
        .poll(async () => (await other.query('select 1 from pg_locks where not granted')).rowCount)
        .toBe(1)
      await other.query('commit')
      expect(await writing).toEqual([outcome, 'created', outcome, 'created'])
      expect(commits).toEqual([[outcome, 'created', outcome, 'created']])
      const { rows } = await other.query(
        `select id from documents where tag <> 'other' order by id`,
      )
      expect(rows.map(({ id }) => id)).toEqual(replaces ? ['a', 'b', 'c', 'd'] : ['a', 'b', 'd'])
      await other.end()
    },
  )
})
