import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'

/**
 * Maximum number of prepared statements per connection. Gatehouse has far fewer distinct queries.
 */
const capacity = 256

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
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
    const { statement, returnsRows, changesRows, insertsRows } = this.#prepare(sql)
    const values = parameters as (null | number | bigint | string | Uint8Array)[]
    if (returnsRows) {
      const rows = statement.all(...values) as R[]
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
      prepared = {
        statement,
        returnsRows: statement.columns().length > 0,
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

function changesRows(sql: string): boolean {
  return /^\s*(insert|update|delete|replace|with)\b/i.test(sql)
}

function insertsRows(sql: string): boolean {
  return /^\s*(insert|replace)\b/i.test(sql)
}
