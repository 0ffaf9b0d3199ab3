import { Failure } from '../failure.ts'
import type { Reach } from './reach.ts'
import { Semaphore } from './semaphore.ts'

/**
 * How many of a node's connections to PostgreSQL are used at most: by everything, by writes, and by
 * long transactions, which are writes, too. So reads and authentication always have two that nothing
 * else uses, and with short writes five that no long transaction uses.
 */
export const CONNECTIONS = { all: 10, writes: 8, long: 5 } as const

/** Maximum time that a statement, and a long transaction, wait for a connection, ms. */
export const CONNECTION_WAIT = { statement: 5_000, long: 30_000 } as const

/** How many may wait for a connection; those that come then are rejected at once. */
export const MOST_WAITING = 2_000

/** How the connections of a node are used. */
export interface ConnectionUse {
  /** How many are in use. */
  readonly used: number
  /** How many statements and transactions wait for one. */
  readonly waiting: number
}

/** Shares the connections of a node between reads, writes and long transactions. */
export class ConnectionLimits {
  readonly #reach: Reach
  readonly #all: Semaphore
  readonly #writes: Semaphore
  readonly #long: Semaphore
  readonly #wait: { readonly statement: number; readonly long: number }

  constructor(
    reach: Reach,
    connections: { all: number; writes: number; long: number } = CONNECTIONS,
    wait: { statement: number; long: number } = CONNECTION_WAIT,
  ) {
    this.#reach = reach
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
   * @returns what gives it back.
   * @throws Failure `unavailable` where it takes too long, too many wait, or the store is away.
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

  /** Runs a long transaction once there is room for it. @throws Failure as {@link connection} */
  async long<T>(run: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(this.#long, this.#wait.long)
    try {
      return await run()
    } finally {
      leave()
    }
  }

  async #enter(semaphore: Semaphore, wait: number): Promise<() => void> {
    const given = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let done = () => {}
    try {
      await semaphore.enter(() => {
        if (this.use.waiting >= MOST_WAITING) throw tooBusy(`${MOST_WAITING} wait already`)
        done = this.#reach.queue((failure) => given.abort(failure))
        timer = setTimeout(() => given.abort(tooBusy(`none was free for ${wait} ms`)), wait)
        return given.signal
      })
    } finally {
      clearTimeout(timer)
      done()
    }
    return () => semaphore.leave()
  }
}

const tooBusy = (reason: string) =>
  new Failure('unavailable', 'The store has too much to do. Try again.', {
    cause: new Error(`No connection to PostgreSQL: ${reason}.`),
  })
