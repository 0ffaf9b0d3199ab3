import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import { forEachEngine, forEngine } from './test-support/each-engine.testing.ts'
import { openOlder } from './test-support/older-store.testing.ts'

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

  test('removes the refresh tokens that an older version stored, and keeps the rest', async () => {
    await using older = await openOlder(engine, '0013-endpoint-changes')
    const { db } = older
    await sql`insert into people
      (id, provider, issuer, subject, username, role, created_at, access_token, refresh_token)
      values ('p', 'github', 'i', '1', 'github:1', 'admin', 5, 'encrypted', 'refresh')`.execute(db)
    await sql`insert into sessions
      (hash, id, person_id, created_at, last_seen_at, expires_at, access_token, token_expires_at)
      values ('h', 's', 'p', 1, 1, 2, 'encrypted', 7)`.execute(db)

    await migrate(db, allMigrations(engine.name))
    const { rows: people } = await sql`select * from people`.execute(db)
    const { rows: sessions } = await sql`select * from sessions`.execute(db)
    expect([people, sessions]).toMatchObject([
      [{ id: 'p', role: 'admin', access_token: 'encrypted' }],
      [{ hash: 'h', person_id: 'p', expires_at: 2, access_token: 'encrypted' }],
    ])
    for (const row of [...people, ...sessions]) {
      expect(row).not.toHaveProperty('refresh_token')
      expect(row).not.toHaveProperty('token_expires_at')
    }
  })
})

forEachEngine({ empty: true }, (engine) => {
  test('keeps the roles of an older version from being changed by groups', async () => {
    await using older = await openOlder(engine, '0022-limited-people')
    const people = [
      ['1', 'operator', null],
      ['2', 'pending', null],
      ['3', 'pending', '["blog"]'],
      ['4', 'none', null],
    ] as const
    for (const [id, role, databases] of people) {
      await sql`insert into people
        (id, provider, issuer, subject, username, role, databases, created_at)
        values (${id}, 'oidc', 'i', ${id}, ${id}, ${role}, ${databases}, 5)`.execute(older.db)
    }
    await migrate(older.db, allMigrations(engine.name))
    const rows = await older.db.selectFrom('people').select('role_source').orderBy('id').execute()
    expect(rows.map(({ role_source }) => role_source)).toEqual(['admin', null, 'admin', 'admin'])
  })
})

forEngine('postgres', (engine) => {
  test('an older version that starts during a migration waits for it and is rejected', async () => {
    const newer = await engine.open()
    const begun = Promise.withResolvers<void>()
    const next = {
      async up(trx: Kysely<unknown>): Promise<void> {
        begun.resolve()
        const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`
        await expect.poll(async () => (await waiting.execute(trx)).rows.length).toBe(1)
      },
    }
    const migrating = migrate(newer.db, { ...allMigrations(engine.name), '9999-tomorrow': next })
    await begun.promise
    await expect(engine.open()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('it has the migration "9999-tomorrow"'),
    })
    await migrating
  })
})
