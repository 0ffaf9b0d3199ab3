import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * One transaction for all reads of a turn of the event loop: taken by itself, each read would lock
 * and unlock the log (two system calls), which takes as long as finding a document does.
 *
 * It ends with the turn, and before that with every commit of this process and with every one of
 * another that is noticed, so that whoever has heard of a change reads it.
 */
export class ReadSnapshot {
  readonly #reader: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #look: StatementSync
  #open = false
  #version: unknown

  /** @param reader a connection that nothing is written on. */
  constructor(reader: DatabaseSync) {
    this.#reader = reader
    this.#begin = reader.prepare('begin')
    this.#commit = reader.prepare('commit')
    // Moves with every commit of any connection but this one, which makes none.
    this.#look = reader.prepare('pragma data_version')
  }

  /**
   * To be called before each read; answers which version of the store it reads: other after every commit.
   *
   * @throws the error of SQLite where the file cannot be read; the next call tries again.
   */
  begin(): unknown {
    if (this.#open) return this.#version
    // An earlier transaction may still be open because its end failed.
    if (this.#reader.isTransaction) this.#reader.exec('rollback')
    this.#begin.run()
    this.#open = true
    setImmediate(() => this.end())
    // Should the look fail, what the turn reads is of no known version.
    this.#version = undefined
    this.#version = this.#look.get()?.data_version
    return this.#version
  }

  /**
   * Has the next read see everything that is committed by now. Never throws: it runs in
   * `setImmediate`, where an error would end the process.
   */
  end(): void {
    if (!this.#open) return
    this.#open = false
    // Closed in this very turn: there is nothing left to end.
    if (!this.#reader.isOpen) return
    try {
      this.#commit.run()
    } catch {
      // After a read that failed (SQLITE_CORRUPT, SQLITE_IOERR) the commit fails too.
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
