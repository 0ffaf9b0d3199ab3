import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WAIT } from '../../test-support/wait.testing.ts'
import { migrate } from '../migrate.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import { openStore } from '../open.ts'
import { forEachEngine, forEngine } from '../test-support/each-engine.testing.ts'
import { createBackupFixture, everything, fill, SESSION, withDatabase } from './backup.testing.ts'
import { connectPostgres } from './connect-postgres.ts'
import { migrationsUpTo, TRANSIENT_TABLES } from './tables.ts'

const backup = createBackupFixture()

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

forEngine('postgres', (engine) => {
  test('a time limit of the database does not end a backup', async () => {
    const store = await engine.open()
    const { databaseUrl } = engine.location() as { databaseUrl: string }
    const name = new URL(databaseUrl).pathname.slice(1)
    for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
      await sql`alter database ${sql.ref(name)} set ${sql.raw(limit)} = '1min'`.execute(store.db)
    }
    const { client, close } = await connectPostgres(databaseUrl)
    const { rows } = await client.query(
      `select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle,
        current_setting('lock_timeout') as lock`,
    )
    close()
    expect(rows).toEqual([{ statement: '0', idle: '0', lock: '10s' }])
  })
})

/** Returns the tables that a restore does not adjust. */
const unadjusted = (tables: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(tables).filter(
      ([name]) => ![...TRANSIENT_TABLES, 'counters', 'jobs'].includes(name),
    ),
  )

forEachEngine({ empty: true }, (engine) => {
  describe('createBackup', () => {
    test('writes a backup that can be restored into both engines, while a store is open', async () => {
      const store = await engine.open()
      await fill(store)
      const before = await everything(store)
      const manifest = await backup.create(engine.location())
      expect(manifest).toMatchObject({
        engine: engine.name,
        gatehouse: '1.2.3',
        migration: Object.keys(allMigrations(engine.name)).at(-1),
      })
      expect(manifest.tables).toMatchObject({ documents: 1_206, people: 1, sessions: 0 })
      expect(readdirSync(backup.folder).sort()).toEqual(['backup.json', 'store.sqlite'])
      expect(modeOf(backup.folder)).toBe('700')
      for (const name of readdirSync(backup.folder))
        expect(modeOf(join(backup.folder, name))).toBe('600')
      // Free pages must not contain it, either.
      expect(readFileSync(join(backup.folder, 'store.sqlite')).includes(SESSION)).toBe(false)

      for (const target of Object.values(backup.targets)) {
        const location = await target()
        await backup.restoreTo(location)
        const restored = await openStore(location, 'tool')
        try {
          const after = await everything(restored)
          expect(unadjusted(after)).toEqual(unadjusted(before))
          for (const name of TRANSIENT_TABLES) expect(after[name]).toEqual([])
        } finally {
          await restored.close()
        }
      }
    })

    test('fails without a store, and leaves nothing behind', async () => {
      await expect(backup.create(engine.location())).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringMatching(/ contains no Gatehouse database\.$/),
      })
      expect(existsSync(backup.folder)).toBe(false)
    })

    test('does not migrate an older store, which a restore then migrates', async () => {
      const last = '0006-nodes'
      const run = await withDatabase(engine.location(), async (db) => {
        await migrate(db, migrationsUpTo(engine.name, last))
        expect((await backup.create(engine.location())).migration).toBe(last)
        return db.selectFrom('kysely_migration').select('name').execute()
      })
      expect(run).toHaveLength(6)
      const location = await backup.targets[engine.name]()
      await backup.restoreTo(location)
      const store = await openStore(location, 'tool')
      expect(await everything(store)).toMatchObject({ jobs: [], audit: [] })
      await store.close()
    })

    test('rejects a store that a newer Gatehouse has changed', async () => {
      const { db } = await engine.open()
      const migrations = { '9999-later': { up: async () => {} }, ...allMigrations(engine.name) }
      await migrate(db, migrations)
      await expect(backup.create(engine.location())).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(
          'was last used by a newer version of Gatehouse (it has the migration "9999-later")',
        ),
      })
    })
  })
})

forEngine('postgres', (engine) => {
  test('a backup whose connection breaks leaves nothing behind', async () => {
    await engine.open()
    await withDatabase(engine.location(), async (db) => {
      const locks = await db.startTransaction().execute()
      await sql`lock table documents`.execute(locks)
      const failed = expect(backup.create(engine.location())).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('The backup could not be made: '),
      })
      await vi.waitFor(async () => {
        const ended = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
        expect(ended.rows).toHaveLength(1)
      }, WAIT)
      await failed
      await locks.rollback().execute()
    })
    expect(existsSync(backup.folder)).toBe(false)
  })
})

test('every migration creates the same tables and columns on both engines', async () => {
  const shapes = await Promise.all(
    (['sqlite', 'postgres'] as const).map(async (name) => {
      const store = await openStore(await backup.targets[name](), 'tool')
      onTestFinished(() => store.close())
      const tables = await store.db.introspection.getTables()
      return Object.fromEntries(
        // Triggers write the entries of feeds, which no backup contains, and differ by engine.
        tables
          .filter(({ name }) => name !== 'feed_entries')
          .map((table) => [table.name, table.columns.map((column) => column.name).sort()]),
      )
    }),
  )
  expect(shapes[0]).toEqual(shapes[1])
  expect(Object.keys(migrationsUpTo('sqlite', '0003-documents'))).toHaveLength(3)
})
