// One class, because the group, its savepoints and the lock change state together.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Failure } from '../../../failure.ts'
import {
  commitFailure,
  DamagedStore,
  SQLITE_BUSY,
  sqliteCode,
  sqliteError,
} from '../../availability/unavailable.ts'

/** Maximum time that a write waits for another process that holds SQLite's write lock, ms. */
const DEFAULT_LOCK_TIMEOUT = 5_000

/** Pause between two attempts to lock, ms. */
const LOCK_RETRY_DELAY = 5

interface GroupCommitOptions {
  readonly lockTimeout?: number
  readonly onCommit?: () => void
  readonly onFailure?: (failure: unknown) => void
}

/** Writes that share one COMMIT. */
interface Group {
  /** Settles with the COMMIT. Members of the group resolve only after it. */
  readonly outcome: Promise<void>
  readonly resolve: () => void
  readonly reject: (failure: Failure) => void
  /** The turn has ended but a unit is still open: commit as soon as that unit ends. */
  due: boolean
  failure: Failure | undefined
}

/** A savepoint within a group, created by {@link GroupCommit.begin}. */
export interface Unit {
  readonly group: Group
  open: boolean
  /**
   * Error of one of its statements. It is more specific than the failure of the group that follows.
   */
  damage?: DamagedStore
}

/**
 * Batches the writes on one SQLite connection: all writes that arrive in the same turn of the event
 * loop share one COMMIT, and so one fsync (docs/decisions/0003-group-commit-on-sqlite.md).
 *
 * A unit is a transaction or a single statement. It acquires the lock, opens the transaction of the
 * group if there is none, runs, and releases the lock without a commit. The COMMIT follows in
 * `setImmediate`, and only then do the members resolve or reject. Members that failed or rolled
 * back wait too, because they may have read uncommitted writes of other members. If the COMMIT
 * fails or SQLite rolls back the whole transaction, every member rejects with the result of
 * `commitFailure`.
 */
export class GroupCommit {
  readonly #db: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  readonly #undo: StatementSync
  readonly #lockTimeout: number
  readonly #onCommit: () => void
  readonly #onFailure: (failure: unknown) => void
  readonly #waiting: (() => void)[] = []
  #locked = false
  #group: Group | undefined

  /**
   * @param db must have a short `busy_timeout`.
   * @param options `lockTimeout`: maximum wait for another process, ms, 5,000 by default; `onCommit`:
   * called after each COMMIT, before the members resolve; `onFailure`: called with the failure of a
   * group or of its BEGIN.
   */
  constructor(
    db: DatabaseSync,
    {
      lockTimeout = DEFAULT_LOCK_TIMEOUT,
      onCommit = () => {},
      onFailure = () => {},
    }: GroupCommitOptions = {},
  ) {
    this.#db = db
    this.#lockTimeout = lockTimeout
    this.#onCommit = onCommit
    this.#onFailure = onFailure
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#savepoint = db.prepare('savepoint gatehouse_unit')
    this.#release = db.prepare('release gatehouse_unit')
    this.#undo = db.prepare('rollback to gatehouse_unit')
  }

  /** Runs a single statement, and resolves with its result once it is committed. */
  async write<T>(work: () => T): Promise<T> {
    const group = await this.#enter()
    let result: T
    try {
      result = this.#attempt(group, work)
    } catch (error) {
      const groupFailed = group.failure !== undefined
      this.#leave()
      // A rejected statement leaves no changes, but its error may depend on uncommitted writes of
      // another member.
      if (!groupFailed) await memberOutcome(group, error)
      throw error
    }
    this.#leave()
    await group.outcome
    return result
  }

  /** Runs several statements, all or none, and resolves with their result once it is committed. */
  writeAll<T>(work: () => T): Promise<T> {
    return this.write(() => {
      this.#savepoint.run()
      try {
        const result = work()
        this.#release.run()
        return result
      } catch (error) {
        if (this.#group !== undefined && this.#db.isTransaction) this.#undoUnit(this.#group)
        throw error
      }
    })
  }

  /** Opens a transaction. Other writes wait until {@link commit} or {@link rollback}. */
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

  /** Runs a statement inside a transaction, synchronously. */
  run<T>(unit: Unit, work: () => T): T {
    try {
      return this.#attempt(unit.group, work)
    } catch (error) {
      if (error instanceof DamagedStore) unit.damage = error
      throw error
    }
  }

  /** Ends a transaction, and resolves once it is committed. */
  async commit(unit: Unit): Promise<void> {
    this.#attempt(unit.group, () => this.#release.run())
    unit.open = false
    this.#leave()
    await unit.group.outcome
  }

  /**
   * Rolls back a transaction without affecting the other members of its group. Does nothing after a
   * failed {@link commit}, and releases the lock even if the whole group has failed.
   */
  async rollback(unit: Unit): Promise<void> {
    if (!unit.open) return
    unit.open = false
    const { group } = unit
    if (group.failure !== undefined) {
      this.#leave()
      return
    }
    this.#undoUnit(group)
    this.#leave()
    await memberOutcome(group, unit.damage)
  }

  async #enter(): Promise<Group> {
    const deadline = performance.now() + this.#lockTimeout
    if (this.#locked) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#locked = true
    if (this.#group !== undefined) return this.#group
    try {
      await this.#beginImmediate(deadline)
    } catch (error) {
      this.#leave()
      this.#onFailure(error)
      throw error
    }
    return this.#openGroup()
  }

  #leave(): void {
    if (this.#group?.due) this.#commitGroup(this.#group)
    const next = this.#waiting.shift()
    // The lock passes directly to the next waiter, so that a new write cannot overtake it.
    if (next !== undefined) next()
    else this.#locked = false
  }

  async #beginImmediate(deadline: number): Promise<void> {
    for (;;) {
      try {
        this.#rollBackIfOpen()
        this.#begin.run()
        return
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_BUSY || performance.now() >= deadline)
          throw sqliteError(error)
      }
      await pause(LOCK_RETRY_DELAY)
    }
  }

  #openGroup(): Group {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Each member handles the failure itself, and all members may have ended already.
    promise.catch(() => {})
    const group: Group = {
      outcome: promise,
      resolve,
      reject,
      due: false,
      failure: undefined,
    }
    this.#group = group
    setImmediate(() => {
      if (this.#group !== group) return
      if (this.#locked) group.due = true
      else this.#commitGroup(group)
    })
    return group
  }

  #attempt<T>(group: Group, work: () => T): T {
    // After a rollback, SQLite would commit the statement on its own.
    if (group.failure !== undefined) throw group.failure
    try {
      return work()
    } catch (error) {
      if (!this.#db.isTransaction && group.failure === undefined) {
        this.#fail(group, commitFailure(error, 'statement'))
      }
      throw sqliteError(error)
    }
  }

  /** Rolls back the statements of a unit. A partial unit must not be committed. */
  #undoUnit(group: Group): void {
    try {
      this.#undo.run()
      this.#release.run()
    } catch (error) {
      this.#fail(group, commitFailure(error, 'statement'))
    }
  }

  #commitGroup(group: Group): void {
    try {
      this.#commit.run()
    } catch (error) {
      this.#fail(group, commitFailure(error, 'commit'))
      return
    }
    this.#group = undefined
    this.#onCommit()
    group.resolve()
  }

  #fail(group: Group, failure: Failure): void {
    this.#group = undefined
    group.failure = failure
    try {
      this.#rollBackIfOpen()
    } catch {
      // Retried before the next group begins. The members get the original failure.
    }
    group.reject(failure)
    this.#onFailure(failure)
  }

  #rollBackIfOpen(): void {
    if (this.#db.isTransaction) this.#db.exec('rollback')
  }
}

/**
 * Waits for the COMMIT of a group. SQLite does not commit after a read of a damaged page: the
 * member that read it rejects with its own error, the others with the failure of the group.
 */
async function memberOutcome(group: Group, own: unknown): Promise<void> {
  try {
    await group.outcome
  } catch (failure) {
    throw own instanceof DamagedStore ? own : failure
  }
}
