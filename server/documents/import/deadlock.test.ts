import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { onceAwaited } from '../../storage/test-support/lock-waits.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { createImporter } from './importer.ts'

forEngine('postgres', (engine) => {
  test('an import that PostgreSQL ends because of a deadlock is repeated', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const where = { database: 'db', collection: 'articles' }
    const importer = createImporter({
      repository: createDocumentRepository(store),
      now: Date.now,
      schemaOf: async () => ({ tag: null }),
    })
    const row = (id: string) => ({ ...where, id, tag: 'other', body: JSON.stringify({ id }) })
    const inserted = Promise.withResolvers<void>()
    const other = store.transaction(async (trx) => {
      // PostgreSQL ends the transaction that looks for a deadlock first.
      await sql`set local deadlock_timeout = '30s'`.execute(trx)
      await trx.insertInto('documents').values(row('b')).execute()
      inserted.resolve()
      const { database, collection, id, tag, body } = row('a')
      await sql
        .raw(
          onceAwaited(`
            insert into documents (database, collection, id, tag, body)
            values ('${database}', '${collection}', '${id}', '${tag}', '${body}')`),
        )
        .execute(trx)
    })
    await inserted.promise
    async function* records() {
      yield ['a', 'b'].map((id, at) => ({ line: at + 1, text: JSON.stringify({ id }) }))
    }
    const importing = importer.run(where, records(), 'skip', new AbortController().signal)
    await other
    expect(await importing).toMatchObject({ created: 0, skipped: 2, failed: 0 })
  })
})
