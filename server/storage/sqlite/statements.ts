import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'

/**
 * Maximum number of prepared statements per connection. Gatehouse has far fewer distinct queries.
 */
const capacity = 256

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  /** The names of the columns of its rows; undefined before the first row. */
  columns: readonly string[] | undefined
  readonly changesRows: boolean
  readonly insertsRows: boolean
}

/** Runs compiled queries on one connection, and caches the prepared statements. */
export class SqliteStatements {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /**
   * Runs a query and collects all rows. `numAffectedRows` and `insertId` are only set for
   * statements that change rows, because SQLite otherwise returns the values of an earlier
   * statement.
   */
  execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const prepared = this.#prepare(sql)
    const { statement, changesRows, insertsRows } = prepared
    const values = parameters as SQLInputValue[]
    if (prepared.returnsRows) {
      const rows = allRows<R>(prepared, values)
      return changesRows ? { rows, numAffectedRows: BigInt(rows.length) } : { rows }
    }
    const { changes, lastInsertRowid } = statement.run(...values)
    if (!changesRows) return { rows: [] }
    const numAffectedRows = BigInt(changes)
    if (!insertsRows || changes === 0) return { rows: [], numAffectedRows }
    return { rows: [], numAffectedRows, insertId: BigInt(lastInsertRowid) }
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      const statement = this.#db.prepare(sql)
      statement.setReturnArrays(true)
      prepared = {
        statement,
        returnsRows: columnsOf(statement).length > 0,
        columns: undefined,
        changesRows: changesRows(sql),
        insertsRows: insertsRows(sql),
      }
      if (this.#prepared.size >= capacity) {
        for (const oldest of this.#prepared.keys()) {
          this.#prepared.delete(oldest)
          break
        }
      }
    } else {
      // Re-insert at the end. A Map keeps insertion order, so the first key is the least recently
      // used.
      this.#prepared.delete(sql)
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

const columnsOf = (statement: StatementSync) => statement.columns().map(({ name }) => name)

/**
 * Returns the rows of a statement as objects. V8 puts the objects that `all` would make into its old
 * generation, which grows with each query until a major garbage collection.
 */
function allRows<R>(prepared: Prepared, values: readonly SQLInputValue[]): R[] {
  const { statement } = prepared
  // The types of Node.js do not know that these rows are arrays.
  const rows = statement.all(...values) as unknown as SQLOutputValue[][]
  const [first] = rows
  if (first === undefined) return []
  // Another connection may have changed the columns since the statement was prepared.
  if (first.length !== prepared.columns?.length) prepared.columns = columnsOf(statement)
  const { columns } = prepared
  return rows.map((row) => toObject(columns, row) as R)
}

function toObject(columns: readonly string[], row: readonly SQLOutputValue[]) {
  const object: Record<string, SQLOutputValue | undefined> = {}
  for (let at = 0; at < columns.length; at++) object[columns[at] as string] = row[at]
  return object
}

function changesRows(sql: string): boolean {
  return /^\s*(insert|update|delete|replace|with)\b/i.test(sql)
}

function insertsRows(sql: string): boolean {
  return /^\s*(insert|replace)\b/i.test(sql)
}
