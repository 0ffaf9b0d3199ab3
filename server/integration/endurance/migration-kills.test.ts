import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { type ColumnMetadata, Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { EngineName } from '../../storage/engine.ts'
import { migrate } from '../../storage/migrate.ts'
import { allMigrations } from '../../storage/migrations/all-migrations.ts'
import { openStore, type StoreLocation } from '../../storage/open.ts'
import { openPostgres } from '../../storage/postgres/open-postgres.ts'
import { openSqlite } from '../../storage/sqlite/open-sqlite.ts'
import {
  forEachEngine,
  makeDatabase,
  type TestLocation,
} from '../../storage/test-support/each-engine.testing.ts'
import { waitUntilDisconnected } from '../failures/wait-until-disconnected.testing.ts'
import { MIGRATION_KILLS, pick, randomNumbers, SEED } from './settings.testing.ts'

// Starts that migrate the store of an older version are killed at random statements. After each
// kill, the store is as before or completely migrated; the next start migrates it.
// `npm run test:endurance` kills starts on all older versions.

const CHILD = fileURLToPath(new URL('./migration-process.testing.ts', import.meta.url))

/** Time limit of a start on a busy machine, ms. */
const START = 60_000

/** Number of kills of one store. */
const KILLS_EACH = MIGRATION_KILLS || 3

type Db = Kysely<Record<string, Record<string, unknown>>>

/** Opens the store without migrating it. */
async function open(location: StoreLocation): Promise<{ db: Db; close(): Promise<void> }> {
  const ignore = () => {}
  const engine = await ('data' in location
    ? openSqlite(location.data, 'tool', ignore)
    : openPostgres(location.databaseUrl, 'tool', ignore))
  return { db: new Kysely({ dialect: engine.dialect }), close: () => engine.close() }
}

/** Returns whether only the database can set a column. */
const isIdentity = ({ name }: ColumnMetadata) => name === 'entry'

/** Returns a value that fits the type of a column and the migrations that read it. */
function defaultValue({ name, dataType }: ColumnMetadata, table: string, row: number): unknown {
  if (dataType.startsWith('_')) return [`${row}`]
  if (/^(blob|bytea)$/i.test(dataType)) return Buffer.from([row])
  if (/int/i.test(dataType)) return row
  if (dataType === 'tid') return `(0,${row})`
  if (/^(person|owner|creator)_id$/.test(name)) return `people.id ${row}`
  if (name === 'webhook') return `webhooks.id ${row}`
  if (table === 'job_parts' && name === 'documents') return JSON.stringify([[`d${row}`, '{"a":1}']])
  return `${table}.${name} ${row}`
}

/** Makes a store of an older version, which has the first migrations and rows in every table. */
async function makeOlder(location: StoreLocation, engine: EngineName, version: number) {
  const { db, close } = await open(location)
  const migrations = Object.entries(allMigrations(engine)).slice(0, version)
  if (version > 0) await migrate(db, Object.fromEntries(migrations))
  const tables = (await db.introspection.getTables()).filter(({ name }) => name !== 'audit_head')
  // Other tables refer to people and webhooks.
  const isFirst = ({ name }: { name: string }) => /^(people|webhooks)$/.test(name)
  tables.sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  for (const { name, columns } of tables) {
    const given = columns.filter((column) => !isIdentity(column))
    const rows = [101, 102].map((row) =>
      Object.fromEntries(given.map((column) => [column.name, defaultValue(column, name, row)])),
    )
    await db.insertInto(name).values(rows).execute()
  }
  if (version >= 4) {
    const some = db.updateTable('jobs').where('created_at', '=', 101)
    await some.set({ kind: 'create', state: 'running', id: 'job_parts.job 101' }).execute()
  }
  await close()
}

/**
 * Reads the tables, indexes, triggers and rows of a store, without what differs between two runs.
 * The tables of the migrator are created before the migrations, so only their rows count.
 */
async function dump(location: StoreLocation): Promise<unknown> {
  const { db, close } = await open(location)
  try {
    const objects = await ('data' in location
      ? sql`select name, sql from sqlite_master where tbl_name not like 'kysely%' order by name`
      : sql`select indexname as name, indexdef as sql from pg_indexes
            where schemaname = 'public' and tablename not like 'kysely%'
          union all select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
          union all select proname, prosrc from pg_proc where proname like 'gatehouse%'
          order by name, sql`
    ).execute(db)
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
    const rows: Record<string, string[]> = { kysely_migration: [] }
    for (const { name } of tables) {
      if (name === 'kysely_migration_lock') continue
      const all = await db.selectFrom(name).selectAll().execute()
      rows[name] = all.map((row) => JSON.stringify(comparable(name, row))).sort()
    }
    const columns = tables.flatMap(({ name, columns }) =>
      name.startsWith('kysely') ? [] : columns.map((column) => ({ table: name, ...column })),
    )
    return { objects: objects.rows, columns, rows }
  } finally {
    await close()
  }
}

function comparable(table: string, row: Record<string, unknown>): unknown {
  if (table === 'kysely_migration') return row.name
  // 0011-staged-documents makes random tags.
  return table === 'job_documents' && row.seen === '' ? { ...row, tag: '' } : row
}

/** Opens a store in a process that is killed at a statement. Returns what it printed. */
const startAndKill = (location: StoreLocation, killAt: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const command = [CHILD, JSON.stringify(location), String(killAt)]
    execFile(process.execPath, command, { timeout: START }, (error, stdout, stderr) => {
      if (error !== null && error.signal !== 'SIGKILL') reject(new Error(stderr, { cause: error }))
      else resolve(stdout)
    })
  })

forEachEngine({ empty: true }, (engine) => {
  const random = randomNumbers(SEED)
  const versions = Object.keys(allMigrations(engine.name)).map((_, version) => version)
  const stores = MIGRATION_KILLS > 0 ? versions : [pick(random, versions)]

  test.each(stores)(
    'a start killed while it migrates version %d changes nothing or everything',
    {
      timeout: 60_000 + KILLS_EACH * START,
    },
    async (version) => {
      const location = engine.location()
      const control = await makeControl(location)
      try {
        await makeOlder(control.location, engine.name, version)
        const statements = Number(await startAndKill(control.location, 0))
        const after = await dump(control.location)

        await makeOlder(location, engine.name, version)
        const before = await dump(location)
        expect(before).not.toEqual(after)
        const last = statements - random(5)
        const points = Array.from({ length: KILLS_EACH - 1 }, () => 1 + random(last))
        for (const point of points.sort((a, b) => a - b)) {
          await startAndKill(location, point)
          if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
          const now = await dump(location)
          if (!isDeepStrictEqual(now, before)) expect([point, now]).toEqual([point, after])
        }
        await startAndKill(location, last)
        // On PostgreSQL, the killed process may still hold the lock of the migrations.
        const store = await openStore(location, 'node')
        await store.close()
        expect(await dump(location)).toEqual(after)
      } finally {
        await control.remove()
      }
    },
  )
})

/** Returns a second empty store of the same engine. */
async function makeControl(location: StoreLocation): Promise<TestLocation> {
  if ('databaseUrl' in location) return makeDatabase({ empty: true })
  return { location: { data: join(location.data, 'control') }, remove: async () => {} }
}
