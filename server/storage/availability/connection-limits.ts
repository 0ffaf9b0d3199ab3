import { Semaphore } from '../../concurrency/semaphore.ts'
import { Failure } from '../../failure.ts'
import type { HealthMonitor } from './health-monitor.ts'

/**
 * Maximum numbers of connections to PostgreSQL that a node uses: in total, for writes, and for long
 * transactions, which also count as writes. Two connections are therefore reserved for reads and
 * authentication, and five connections are never used by long transactions.
 */
export const CONNECTIONS = { all: 10, writes: 8, long: 5 } as const

/** Maximum time that a statement or a long transaction waits for a connection, ms. */
export const CONNECTION_WAIT = { statement: 5_000, long: 30_000 } as const

/** Maximum number of waiters for a connection. Further ones are rejected immediately. */
export const MAX_WAITING = 2_000

export interface ConnectionUse {
  /** Number of connections in use. */
  readonly used: number
  /** Number of statements and transactions that wait for a connection. */
  readonly waiting: number
}

/** Allocates the connections of a node to reads, writes and long transactions. */
export class ConnectionLimits {
  readonly #health: HealthMonitor
  readonly #all: Semaphore
  readonly #writes: Semaphore
  readonly #long: Semaphore
  readonly #wait: { readonly statement: number; readonly long: number }

  constructor(
    health: HealthMonitor,
    connections: { all: number; writes: number; long: number } = CONNECTIONS,
    wait: { statement: number; long: number } = CONNECTION_WAIT,
  ) {
    this.#health = health
    this.#all = new Semaphore(connections.all)
    this.#writes = new Semaphore(connections.writes)
    this.#long = new Semaphore(connections.long)
    this.#wait = wait
  }

  get use(): ConnectionUse {
    const waiting = this.#all.waiting + this.#writes.waiting + this.#long.waiting
    return { used: this.#all.held, waiting }
  }

  /**
   * Waits for a connection.
   *
   * @returns a function that releases it.
   * @throws Failure `unavailable` if the wait is too long, too many callers wait, or the database
   * is unavailable.
   */
  async connection(purpose: 'read' | 'write'): Promise<() => void> {
    const leave =
      purpose === 'write' ? await this.#enter(this.#writes, this.#wait.statement) : () => {}
    try {
      const leaveAll = await this.#enter(this.#all, this.#wait.statement)
      return () => {
        leaveAll()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Runs a long transaction when capacity is available. @throws Failure like {@link connection} */
  async long<T>(run: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(this.#long, this.#wait.long)
    try {
      return await run()
    } finally {
      leave()
    }
  }

  async #enter(semaphore: Semaphore, wait: number): Promise<() => void> {
    const entered = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let done = () => {}
    try {
      await semaphore.enter(() => {
        if (this.use.waiting >= MAX_WAITING)
          throw tooBusy(`${MAX_WAITING} requests are already waiting`)
        done = this.#health.trackQueued((failure) => entered.abort(failure))
        timer = setTimeout(
          () => entered.abort(tooBusy(`no connection became free within ${wait} ms`)),
          wait,
        )
        return entered.signal
      })
    } finally {
      clearTimeout(timer)
      done()
    }
    return () => semaphore.leave()
  }
}

const tooBusy = (reason: string) =>
  new Failure('unavailable', 'The database is overloaded. Try again.', {
    cause: new Error(`Cannot get a connection to PostgreSQL: ${reason}.`),
  })
