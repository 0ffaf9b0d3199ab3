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
 * Tables that are empty in every backup. Their rows belong to running nodes and open browsers, and a
 * session that was ended after the backup must not be valid again after a restore.
 */
export const TRANSIENT_TABLES: readonly string[] = [
  'nodes',
  'node_listeners',
  'sessions',
  'sign_ins',
  'local_provider',
  'failures',
]

/** A table and its columns, in order. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
}

/** The tables of a store on SQLite without those of the migrations; a table follows those it refers to. */
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

/** A name of a table or column, as SQL writes it on both engines. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The names of columns, as SQL lists them. */
export const listOf = (columns: readonly string[]): string => columns.map(quoted).join(', ')

/** A row's values in the order of the columns. */
export type Row = readonly SQLInputValue[]

/** Reads the rows of a table one by one. */
export function* readRows(db: DatabaseSync, { name, columns }: TableShape): Generator<Row> {
  const select = db.prepare(`select ${listOf(columns)} from ${quoted(name)}`)
  select.setReturnArrays(true)
  for (const row of select.iterate()) yield row as unknown as Row
}

/** How many rows each table has. */
export const countRows = (
  db: DatabaseSync,
  tables: readonly TableShape[],
): Record<string, number> =>
  Object.fromEntries(
    tables.map(({ name }) => [
      name,
      Number(db.prepare(`select count(*) as count from ${quoted(name)}`).get()?.count),
    ]),
  )

/** The migrations that a store on SQLite has run, in order; none if it is not a store. */
export function migrationsOf(db: DatabaseSync): string[] {
  const has = db.prepare('select 1 from sqlite_schema where name = ?').get(DEFAULT_MIGRATION_TABLE)
  if (has === undefined) return []
  const rows = db.prepare(`select name from ${DEFAULT_MIGRATION_TABLE} order by name`).all()
  return rows.map(({ name }) => String(name))
}

/**
 * Returns the last of the migrations that a store has run.
 *
 * @throws Failure `not-found` if it has run none, `conflict` if a newer Gatehouse has changed it.
 */
export function lastMigration(names: readonly string[], place: string): string {
  const known = Object.keys(allMigrations('sqlite'))
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new Failure(
      'conflict',
      `${place} was last used by a newer Gatehouse (it has "${unknown}"). Use that version or a newer one.`,
    )
  }
  const last = names.at(-1)
  if (last === undefined) throw new Failure('not-found', `${place} holds no Gatehouse store.`)
  return last
}

/** The migrations up to this one, which a store that has it has run. */
export const migrationsUpTo = (engine: EngineName, last: string): Record<string, Migration> =>
  Object.fromEntries(Object.entries(allMigrations(engine)).filter(([name]) => name <= last))

/** Counts rows and adds up their hashes, so that two tables can be compared in any order. */
export class TableDigest {
  #rows = 0
  readonly #sum = new Uint32Array(8)

  add(row: Row): void {
    this.#rows++
    const bytes = hash('sha256', JSON.stringify(row), 'buffer')
    for (let at = 0; at < 8; at++) this.#sum[at] = (this.#sum[at] ?? 0) + bytes.readUInt32LE(at * 4)
  }

  get rows(): number {
    return this.#rows
  }

  toString(): string {
    return `${this.#rows} ${this.#sum.join(' ')}`
  }
}
