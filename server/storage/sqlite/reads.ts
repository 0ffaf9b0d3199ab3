import type { DatabaseSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { ReadSnapshot } from './read-snapshot.ts'
import { areTexts, RememberedAnswers } from './remembered-answers.ts'
import { SqliteStatements } from './sqlite-statements.ts'
import { sqliteError } from './unavailable.ts'

/**
 * Reads what is committed, on a connection that nothing is written on: on the writing one they would
 * see what is not committed yet. Both ways throw what `sqliteError` makes of an error.
 */
export class SqliteReads {
  readonly #statements: SqliteStatements
  readonly #snapshot: ReadSnapshot
  readonly #remembered = new RememberedAnswers()

  constructor(reader: DatabaseSync) {
    this.#statements = new SqliteStatements(reader)
    this.#snapshot = new ReadSnapshot(reader)
  }

  /** Asks the store. */
  execute<R>(query: CompiledQuery): QueryResult<R> {
    try {
      this.#snapshot.begin()
      return this.#statements.execute<R>(query)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  /** Asks the store, unless it has just answered the same: what comes back may be shared and frozen. */
  recall<R>(query: CompiledQuery<R>): QueryResult<R> {
    const { sql, parameters } = query
    if (!areTexts(parameters)) return this.execute(query)
    const known = this.#remembered.find(this.#version(), sql, parameters)
    if (known !== undefined) return known as QueryResult<R>
    const found = this.execute<R>(query)
    this.#remembered.keep(sql, parameters, found)
    return found
  }

  /** Has the next read see everything that is committed by now. */
  lookAgain(): void {
    this.#snapshot.end()
  }

  #version(): unknown {
    try {
      return this.#snapshot.begin()
    } catch (error) {
      throw sqliteError(error)
    }
  }
}
