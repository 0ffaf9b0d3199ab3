import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { CompiledQuery, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Change } from '../changes/transactions.ts'
import { migrate } from '../migrate.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import type { Tables } from '../tables.ts'
import { connectPostgres } from './connect-postgres.ts'
import { summarizeNames } from './files.ts'
import { type Manifest, STORE_FILE } from './manifest.ts'
import {
  columnList,
  migrationsUpTo,
  quoteIdentifier,
  readRows,
  type TableShape,
  tablesOf,
} from './tables.ts'

/** Maximum number of rows per INSERT, which keeps it well below 65,535 parameters. */
const ROWS = 500

/** Size in characters from which on an INSERT is sent without more rows. */
const BATCH = 2 * 1024 * 1024

/**
 * Restores a verified backup into an empty PostgreSQL database, in one transaction. Memory use is
 * limited to about 2 MiB and one row.
 *
 * @throws Failure `conflict` if the database contains any table, view or sequence.
 */
export async function restoreToPostgres(
  folder: string,
  manifest: Manifest,
  databaseUrl: string,
  adjust: (trx: Change) => Promise<void>,
): Promise<void> {
  const { client, location, close } = await connectPostgres(databaseUrl)
  const backup = new DatabaseSync(join(folder, STORE_FILE), { readOnly: true })
  const pool = {
    options: client,
    connect: async () => Object.assign(client, { release: () => {} }),
    end: async () => {},
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    await db.transaction().execute(async (trx) => {
      await requireNoTables(trx, location)
      await migrate(trx, migrationsUpTo('postgres', manifest.migration))
      const tables = tablesOf(backup)
      // Migrations insert rows, too. Deleting in reverse order respects foreign keys.
      for (const { name } of tables.toReversed()) {
        await run(trx, `delete from ${quoteIdentifier(name)}`)
      }
      for (const table of tables) await copyTable(trx, backup, table, manifest)
      await migrate(trx, allMigrations('postgres'))
      // No node uses this database yet, so the change needs no queue.
      await adjust(trx as Change)
    })
  } finally {
    backup.close()
    close()
  }
}

async function requireNoTables(trx: Transaction<Tables>, location: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace::regnamespace::text = any(current_schemas(false))
      and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      -- Tables and views that belong to an extension.
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    order by 1`.execute(trx)
  if (rows.length === 0) return
  throw new Failure(
    'conflict',
    `The database ${location} is not empty (${summarizeNames(rows.map(({ name }) => name))}). A restore ` +
      'requires a new, empty database.',
  )
}

async function copyTable(
  trx: Transaction<Tables>,
  backup: DatabaseSync,
  table: TableShape,
  manifest: Manifest,
): Promise<void> {
  const { name, columns } = table
  let values: SQLInputValue[] = []
  let size = 0
  const flush = async () => {
    if (values.length === 0) return
    const rows = Array.from({ length: values.length / columns.length }, (_, row) => {
      const placeholders = columns.map((_, column) => `$${row * columns.length + column + 1}`)
      return `(${placeholders.join(', ')})`
    })
    const into = `insert into ${quoteIdentifier(name)} (${columnList(columns)})`
    await run(trx, `${into} values ${rows.join(', ')}`, values)
    values = []
    size = 0
  }
  for (const row of readRows(backup, table)) {
    for (const value of row) {
      values.push(value)
      size += typeof value === 'string' ? value.length : 8
    }
    if (size >= BATCH || values.length >= ROWS * columns.length) await flush()
  }
  await flush()
  const [counted] = await run(trx, `select count(*) as count from ${quoteIdentifier(name)}`)
  if (counted?.count !== manifest.tables[name]) {
    throw new Failure('unavailable', `Not all rows of ${name} were restored.`)
  }
}

async function run(
  trx: Transaction<Tables>,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { rows } = await trx.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw(text, [...parameters]),
  )
  return rows
}
