import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * One read transaction for all reads in a turn of the event loop. Separate reads would lock and
 * unlock the log each time (two system calls), which takes as long as the lookup of a document.
 *
 * The transaction ends with the turn, with each commit of this process, and with each detected
 * commit of another process. A request that begins after a change therefore reads it.
 */
export class ReadSnapshot {
  readonly #reader: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #readVersion: StatementSync
  #open = false
  #version: unknown

  /** @param reader a connection that is only used for reads. */
  constructor(reader: DatabaseSync) {
    this.#reader = reader
    this.#begin = reader.prepare('begin')
    this.#commit = reader.prepare('commit')
    // Changes with each commit of any other connection.
    this.#readVersion = reader.prepare('pragma data_version')
  }

  /**
   * Call this before each read. Returns the version of the store that is read, which changes with
   * each commit.
   *
   * @throws the error of SQLite if the file cannot be read. The next call tries again.
   */
  begin(): unknown {
    if (this.#open) return this.#version
    // An earlier transaction may still be open because its COMMIT failed.
    if (this.#reader.isTransaction) this.#reader.exec('rollback')
    this.#begin.run()
    this.#open = true
    setImmediate(() => this.end())
    // If the query fails, the reads of this turn have no known version and are not cached.
    this.#version = undefined
    this.#version = this.#readVersion.get()?.data_version
    return this.#version
  }

  /**
   * Ends the snapshot, so that the next read sees all commits. Never throws: it runs in
   * `setImmediate`, where an error would end the process.
   */
  end(): void {
    if (!this.#open) return
    this.#open = false
    // The connection was closed in the same turn, which ended the transaction.
    if (!this.#reader.isOpen) return
    try {
      this.#commit.run()
    } catch {
      // COMMIT also fails after a failed read (SQLITE_CORRUPT, SQLITE_IOERR).
      this.#rollBack()
    }
  }

  #rollBack(): void {
    try {
      if (this.#reader.isTransaction) this.#reader.exec('rollback')
    } catch {
      // `begin` tries again.
    }
  }
}
