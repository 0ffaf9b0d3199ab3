import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Failure } from '../failure.ts'
import { busy, DamagedStore, notCommitted, sqliteCode, sqliteError } from './unavailable.ts'

/** How long a write waits for another process that holds SQLite's write lock, in milliseconds. */
const defaultPatience = 5_000

/** How long it pauses between two tries, in milliseconds. */
const betweenTries = 5

interface GroupCommitOptions {
  readonly patience?: number
  readonly committed?: () => void
  readonly failed?: (failure: unknown) => void
}

/** The writes that share one commit. */
interface Group {
  /** Settles with the COMMIT: whoever belongs to the group is answered only after it. */
  readonly settled: Promise<void>
  readonly resolve: () => void
  readonly reject: (failure: Failure) => void
  /** The turn is over but a unit is still open: commit as soon as that unit ends. */
  due: boolean
  failure: Failure | undefined
}

/** A transaction of its own within a group; made by {@link GroupCommit.begin}. */
export interface Unit {
  readonly group: Group
  open: boolean
  /** What one of its statements met. It says more than the failure of the group, which follows. */
  damage?: DamagedStore
}

/**
 * Writes on one SQLite connection so that all that arrives in the same turn of the event loop
 * shares one COMMIT, and with it one fsync.
 *
 * A unit (a transaction, or a single statement) takes the lock, opens the group's transaction if
 * there is none, does its work, and gives the lock up without committing. The COMMIT follows in
 * `setImmediate`; only then are the members answered, those that failed or rolled back too,
 * because what they read may have been another member's work. When the COMMIT fails, or SQLite
 * gives the whole transaction up, every member fails with what `notCommitted` returns.
 */
export class GroupCommit {
  readonly #db: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  readonly #undo: StatementSync
  readonly #patience: number
  readonly #committed: () => void
  readonly #failed: (failure: unknown) => void
  readonly #waiting: (() => void)[] = []
  #locked = false
  #group: Group | undefined

  /**
   * @param db its `busy_timeout` is to be short.
   * @param options `patience`: milliseconds to wait for another process, 5,000 by default;
   * `committed`: called after each COMMIT, before its members are answered; `failed`: called with the
   * failure of a group, or of the attempt to begin one.
   */
  constructor(
    db: DatabaseSync,
    {
      patience = defaultPatience,
      committed = () => {},
      failed = () => {},
    }: GroupCommitOptions = {},
  ) {
    this.#db = db
    this.#patience = patience
    this.#committed = committed
    this.#failed = failed
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#savepoint = db.prepare('savepoint gatehouse_unit')
    this.#release = db.prepare('release gatehouse_unit')
    this.#undo = db.prepare('rollback to gatehouse_unit')
  }

  /** Does one statement's work and resolves with its result once that is committed. */
  async write<T>(work: () => T): Promise<T> {
    const group = await this.#enter()
    let result: T
    try {
      result = this.#attempt(group, work)
    } catch (error) {
      const groupFailed = group.failure !== undefined
      this.#leave()
      // A statement that SQLite refused has left no trace; the answer may rest on another
      // member's work all the same.
      if (!groupFailed) await settled(group, error)
      throw error
    }
    this.#leave()
    await group.settled
    return result
  }

  /** Opens a transaction; nobody else writes until {@link commit} or {@link rollback}. */
  async begin(): Promise<Unit> {
    const group = await this.#enter()
    try {
      this.#attempt(group, () => this.#savepoint.run())
    } catch (error) {
      this.#leave()
      throw error
    }
    return { group, open: true }
  }

  /** Does the work of a statement inside a transaction, at once. */
  run<T>(unit: Unit, work: () => T): T {
    try {
      return this.#attempt(unit.group, work)
    } catch (error) {
      if (error instanceof DamagedStore) unit.damage = error
      throw error
    }
  }

  /** Ends a transaction; resolves once it is committed. */
  async commit(unit: Unit): Promise<void> {
    this.#attempt(unit.group, () => this.#release.run())
    unit.open = false
    this.#leave()
    await unit.group.settled
  }

  /**
   * Undoes a transaction and leaves the others of its group alone. Does nothing after a
   * {@link commit} that failed, and still gives the lock up when the whole group is gone.
   */
  async rollback(unit: Unit): Promise<void> {
    if (!unit.open) return
    unit.open = false
    const { group } = unit
    if (group.failure !== undefined) {
      this.#leave()
      return
    }
    try {
      this.#undo.run()
      this.#release.run()
    } catch (error) {
      // Half a unit must not be committed: better none of the group.
      this.#fail(group, notCommitted(error, 'statement'))
    }
    this.#leave()
    await settled(group, unit.damage)
  }

  async #enter(): Promise<Group> {
    const deadline = performance.now() + this.#patience
    if (this.#locked) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#locked = true
    if (this.#group !== undefined) return this.#group
    try {
      await this.#beginImmediate(deadline)
    } catch (error) {
      this.#leave()
      this.#failed(error)
      throw error
    }
    return this.#openGroup()
  }

  #leave(): void {
    if (this.#group?.due) this.#settle(this.#group)
    const next = this.#waiting.shift()
    // The lock passes from hand to hand, so that nobody can come in between.
    if (next !== undefined) next()
    else this.#locked = false
  }

  async #beginImmediate(deadline: number): Promise<void> {
    for (;;) {
      try {
        this.#leaveTransaction()
        this.#begin.run()
        return
      } catch (error) {
        if (sqliteCode(error) !== busy || performance.now() >= deadline) throw sqliteError(error)
      }
      await pause(betweenTries)
    }
  }

  #openGroup(): Group {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Members hear of a failure one by one; there may be none left to listen.
    promise.catch(() => {})
    const group: Group = { settled: promise, resolve, reject, due: false, failure: undefined }
    this.#group = group
    setImmediate(() => {
      if (this.#group !== group) return
      if (this.#locked) group.due = true
      else this.#settle(group)
    })
    return group
  }

  #attempt<T>(group: Group, work: () => T): T {
    // Outside its transaction a statement would commit by itself.
    if (group.failure !== undefined) throw group.failure
    try {
      return work()
    } catch (error) {
      if (!this.#db.isTransaction) this.#fail(group, notCommitted(error, 'statement'))
      throw sqliteError(error)
    }
  }

  #settle(group: Group): void {
    try {
      this.#commit.run()
    } catch (error) {
      this.#fail(group, notCommitted(error, 'commit'))
      return
    }
    this.#group = undefined
    this.#committed()
    group.resolve()
  }

  #fail(group: Group, failure: Failure): void {
    this.#group = undefined
    group.failure = failure
    try {
      this.#leaveTransaction()
    } catch {
      // Tried again before the next group begins; this one's members know enough.
    }
    group.reject(failure)
    this.#failed(failure)
  }

  #leaveTransaction(): void {
    if (this.#db.isTransaction) this.#db.exec('rollback')
  }
}

/**
 * Waits for the commit of a group. SQLite commits nothing after a read of a damaged page: then the
 * member that read it fails with its own error, the others with that of the group.
 */
async function settled(group: Group, own: unknown): Promise<void> {
  try {
    await group.settled
  } catch (failure) {
    throw own instanceof DamagedStore ? own : failure
  }
}
