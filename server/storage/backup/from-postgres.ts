import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration'
import pg from 'pg'
import { Failure } from '../../failure.ts'
import { DATABASE_FILE } from '../data-folder.ts'
import { migrate } from '../migrate.ts'
import { openSqlite } from '../sqlite/open-sqlite.ts'
import { connectPostgres } from './connect-postgres.ts'
import {
  columnList,
  lastMigration,
  migrationsUpTo,
  quoteIdentifier,
  type Row,
  readRows,
  TableDigest,
  type TableShape,
  TRANSIENT_TABLES,
  tablesOf,
} from './tables.ts'

/**
 * Copies the store of a PostgreSQL database into a new SQLite file. One read-only transaction
 * provides a consistent snapshot. Rows are streamed, with one row in memory at a time.
 *
 * @throws Failure `not-found` if the database contains no store; `unavailable` if the copy fails or
 * differs from the original.
 */
export async function copyFromPostgres(databaseUrl: string, target: string): Promise<void> {
  const { client, location, close } = await connectPostgres(databaseUrl)
  try {
    await client.query('begin isolation level repeatable read read only')
    const migration = lastMigration(await migrationsIn(client), `PostgreSQL at ${location}`)
    await createStore(target, migration)
    const digests = new Map<TableShape, string>()
    const db = new DatabaseSync(target, { enableForeignKeyConstraints: false })
    try {
      // Durability is not needed, because an interrupted copy is deleted or left incomplete.
      db.exec('pragma journal_mode = delete; pragma synchronous = off')
      for (const table of tablesOf(db)) digests.set(table, await copyTable(client, db, table))
    } finally {
      db.close()
    }
    compare(target, digests)
  } finally {
    close()
  }
}

async function migrationsIn(client: pg.Client): Promise<string[]> {
  const found = await client.query('select to_regclass($1) as table', [DEFAULT_MIGRATION_TABLE])
  if (found.rows[0]?.table === null) return []
  const { rows } = await client.query(
    `select name from ${DEFAULT_MIGRATION_TABLE} order by name collate "C"`,
  )
  return rows.map(({ name }) => String(name))
}

/** Creates an empty SQLite store with the schema of a migration. */
async function createStore(target: string, migration: string): Promise<void> {
  const folder = dirname(target)
  const engine = await openSqlite(folder, 'tool', () => {})
  try {
    await migrate(new Kysely({ dialect: engine.dialect }), migrationsUpTo('sqlite', migration))
  } finally {
    await engine.close()
  }
  renameSync(join(folder, DATABASE_FILE), target)
}

/** Copies the rows of a table, and returns their digest. */
async function copyTable(client: pg.Client, db: DatabaseSync, table: TableShape): Promise<string> {
  const { name, columns } = table
  const digest = new TableDigest()
  db.exec('begin')
  // Migrations insert rows, too.
  db.exec(`delete from ${quoteIdentifier(name)}`)
  if (!TRANSIENT_TABLES.includes(name)) {
    const placeholders = columns.map(() => '?').join(', ')
    const insert = db.prepare(
      `insert into ${quoteIdentifier(name)} (${columnList(columns)}) values (${placeholders})`,
    )
    await streamRows(
      client,
      `select ${columnList(columns)} from ${quoteIdentifier(name)}`,
      (row) => {
        insert.run(...row)
        digest.add(row)
      },
    )
    const { rows } = await client.query(`select count(*) as count from ${quoteIdentifier(name)}`)
    if (rows[0]?.count !== digest.rows) {
      throw new Failure('unavailable', `Not all rows of ${name} were read.`)
    }
  }
  db.exec('commit')
  return digest.toString()
}

/**
 * Calls back for each row of a query as it arrives, as an array. The callback is synchronous, so
 * PostgreSQL sends rows no faster than they are handled.
 */
function streamRows(client: pg.Client, text: string, take: (row: Row) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: unknown
    const config: pg.QueryArrayConfig = { text, rowMode: 'array' }
    // `pg` does not collect rows that are passed to a listener.
    const query = client.query(new pg.Query(config))
    query.on('row', (row: unknown) => {
      if (failure !== undefined) return
      try {
        take(row as Row)
      } catch (error) {
        failure = error
        reject(error)
      }
    })
    query.on('error', reject)
    query.on('end', () => resolve())
  })
}

/** Reads the file again, and compares its rows with those read from PostgreSQL. */
function compare(target: string, digests: ReadonlyMap<TableShape, string>): void {
  const db = new DatabaseSync(target, { readOnly: true })
  try {
    for (const [table, expected] of digests) {
      const digest = new TableDigest()
      for (const row of readRows(db, table)) digest.add(row)
      if (digest.toString() !== expected) {
        throw new Failure('unavailable', `The copy of ${table.name} differs from the original.`)
      }
    }
  } finally {
    db.close()
  }
}
