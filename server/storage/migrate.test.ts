import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import { forEachEngine } from './test-support/each-engine.testing.ts'

const createNotes = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.createTable('notes').addColumn('text', 'text').execute()
  },
}

const fail = {
  async up(): Promise<void> {
    throw new Error('on purpose')
  },
}

forEachEngine({ empty: true }, (engine) => {
  test('runs each migration once', async () => {
    const { db } = await engine.open()
    const migrations = { ...allMigrations(engine.name), '0900-notes': createNotes }
    await migrate(db, migrations)
    // A migration that runs twice would fail, because the table exists.
    await migrate(db, migrations)
    const tables = await db.introspection.getTables()
    expect(tables.map(({ name }) => name)).toContain('notes')
  })

  test('rolls back all migrations if one fails', async () => {
    const { db } = await engine.open()
    const migrations = {
      ...allMigrations(engine.name),
      '0900-notes': createNotes,
      '0901-fail': fail,
    }
    await expect(migrate(db, migrations)).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: 'on purpose' },
    })
    const tables = await db.introspection.getTables()
    expect(tables.map(({ name }) => name)).not.toContain('notes')
  })
})
