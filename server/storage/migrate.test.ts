import { Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { verifyChain } from '../audit/verify.ts'
import { readEndpoints } from '../endpoints/registry/repository.ts'
import { migrationsUpTo } from './backup/tables.ts'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import { openPostgres } from './postgres/open-postgres.ts'
import { openSqlite } from './sqlite/open-sqlite.ts'
import type { Tables } from './tables.ts'
import { forEachEngine, forEngine, type TestEngine } from './test-support/each-engine.testing.ts'

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

/** Opens the store of an older version, which has the migrations up to `last`. */
async function openOlder(engine: TestEngine, last: string) {
  const location = engine.location()
  const { dialect, close } = await ('data' in location
    ? openSqlite(location.data, 'tool', () => {})
    : openPostgres(location.databaseUrl, 'tool', () => {}))
  const db = new Kysely<Tables>({ dialect })
  await migrate(db, migrationsUpTo(engine.name, last))
  return { db, [Symbol.asyncDispose]: () => close() }
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

  test('cancels a running bulk change of endpoints, and keeps what it has made', async () => {
    await using older = await openOlder(engine, '0019-visible-jobs')
    const { db } = older
    await sql`insert into endpoints (address, databases, revision) values ('tcp://a:1', '["b"]', 7)`.execute(
      db,
    )
    await sql`
      insert into endpoint_changes (id, state, actor, person, via, keep_on_failure, changes, total,
        removals, made, unchanged, failed, claimed_by, claimed_until, created_at)
      values ('done', 'done', '', '', '', 0, '[]', 1, 0, 1, 0, 0, '', 0, 1),
             ('one', 'running', '', '', '', 0, '[]', 9, 0, 1, 2, 3, '', 0, 2),
             ('two', 'running', '', '', '', 0, '[]', 4, 0, 0, 0, 0, '', 0, 3)`.execute(db)
    await sql`
      insert into endpoint_change_outcomes (change, at, state) values ('one', 0, 'made')`.execute(
      db,
    )

    const store = await engine.open()
    expect(await readEndpoints(store)).toMatchObject([{ endpoint: 'tcp://a:1', revision: 7 }])
    const rows = await store.db
      .selectFrom('audit')
      .select(['actor', 'action', 'target', 'after', 'change'])
      .orderBy('seq')
      .execute()
    const cancelled = { actor: 'upgrade', action: 'endpoint.change-cancel' }
    expect(rows).toEqual([
      { ...cancelled, target: 'one', after: '{"made":1,"changes":9,"left":3}', change: 'one' },
      { ...cancelled, target: 'two', after: '{"made":0,"changes":4,"left":4}', change: 'two' },
    ])
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 2 })
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
