import { hash } from 'node:crypto'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  DEFAULT_MIGRATION_LOCK_TABLE,
  DEFAULT_MIGRATION_TABLE,
  type Migration,
} from 'kysely/migration'
import { Failure } from '../../failure.ts'
import type { EngineName } from '../engine.ts'
import { allMigrations } from '../migrations/all-migrations.ts'

/**
 * Tables that are empty in every backup. Most rows belong to running nodes or browser sessions. A
 * session or an invitation that ended after the backup must not become valid again with a restore.
 */
export const TRANSIENT_TABLES: readonly string[] = [
  'index_entries',
  'feed_entries',
  'webhook_deliveries',
  'traffic_minutes',
  'nodes',
  'node_listeners',
  'sessions',
  'sign_ins',
  'provider_tests',
  'invitations',
  'local_provider',
  'failures',
]

/** A table, with its columns in order. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
}

/**
 * Returns the tables of a SQLite store, without those of the migrator. Referenced tables come
 * first.
 */
export function tablesOf(db: DatabaseSync): TableShape[] {
  const names = db
    .prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite~_%' escape '~'
       and name not in (?, ?) order by rowid`,
    )
    .all(DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE)
  const columns = db.prepare('select name from pragma_table_info(?) order by cid')
  return names.map(({ name }) => ({
    name: String(name),
    columns: columns.all(String(name)).map((column) => String(column.name)),
  }))
}

/** Quotes the name of a table or column, for both engines. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Returns a quoted list of columns, for both engines. */
export const columnList = (columns: readonly string[]): string =>
  columns.map(quoteIdentifier).join(', ')

/** Values of a row, in the order of the columns. */
export type Row = readonly SQLInputValue[]

/** Reads the rows of a table one at a time. */
export function* readRows(db: DatabaseSync, { name, columns }: TableShape): Generator<Row> {
  const select = db.prepare(`select ${columnList(columns)} from ${quoteIdentifier(name)}`)
  select.setReturnArrays(true)
  for (const row of select.iterate()) yield row as unknown as Row
}

/** Returns the number of rows of each table. */
export const countRows = (
  db: DatabaseSync,
  tables: readonly TableShape[],
): Record<string, number> =>
  Object.fromEntries(
    tables.map(({ name }) => [
      name,
      Number(db.prepare(`select count(*) as count from ${quoteIdentifier(name)}`).get()?.count),
    ]),
  )

/**
 * Returns the migrations that a SQLite store has run, in order; none if the file is not a store.
 */
export function migrationsOf(db: DatabaseSync): string[] {
  const has = db.prepare('select 1 from sqlite_schema where name = ?').get(DEFAULT_MIGRATION_TABLE)
  if (has === undefined) return []
  const rows = db.prepare(`select name from ${DEFAULT_MIGRATION_TABLE} order by name`).all()
  return rows.map(({ name }) => String(name))
}

/**
 * Returns the last migration that a store has run.
 *
 * @throws Failure `not-found` if it has run none, `conflict` if a newer Gatehouse has changed it.
 */
export function lastMigration(names: readonly string[], store: string): string {
  const migrations = Object.keys(allMigrations('sqlite'))
  const unknown = names.find((name) => !migrations.includes(name))
  if (unknown !== undefined) {
    throw new Failure(
      'conflict',
      `${store} was last used by a newer version of Gatehouse (it has the migration "${unknown}"). Use that version or a newer one.`,
    )
  }
  const last = names.at(-1)
  if (last === undefined) throw new Failure('not-found', `${store} contains no Gatehouse database.`)
  return last
}

/** Returns the migrations up to and including this one. */
export const migrationsUpTo = (engine: EngineName, last: string): Record<string, Migration> =>
  Object.fromEntries(Object.entries(allMigrations(engine)).filter(([name]) => name <= last))

/**
 * Counts rows and sums their hashes, to compare two tables independently of the order of their
 * rows.
 */
export class TableDigest {
  #rows = 0
  readonly #sum = new Uint32Array(8)

  add(row: Row): void {
    this.#rows++
    const bytes = hash('sha256', JSON.stringify(row), 'buffer')
    this.#sum.forEach((value, at) => {
      this.#sum[at] = value + bytes.readUInt32LE(at * 4)
    })
  }

  get rows(): number {
    return this.#rows
  }

  toString(): string {
    return `${this.#rows} ${this.#sum.join(' ')}`
  }
}
