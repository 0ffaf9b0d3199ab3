import type pg from 'pg'
import type { QueryArrayResult } from 'pg'
import type { InFlight } from '../../../concurrency/in-flight.ts'
import type { ConnectionLimits } from '../../availability/connection-limits.ts'
import type { HealthMonitor } from '../../availability/health-monitor.ts'
import { postgresError } from '../postgres-error.ts'
import {
  BEGIN,
  COMMIT,
  type GuardedClient,
  type GuardedClientDeps,
  guardClient,
  isReadOnly,
  ROLLBACK,
  type Statement,
} from './guarded-client.ts'
import type { Pool } from './pool.ts'

export interface GuardedPoolDeps extends GuardedClientDeps {
  readonly connections: Pool
  readonly inFlight: InFlight
  readonly limits: ConnectionLimits
}

/** A prepared statement, whose rows are arrays. */
export type PreparedStatement = Statement & { readonly name: string }

/** Runs a prepared statement outside of transactions. */
export type Execute = (statement: PreparedStatement) => Promise<QueryArrayResult>

/** Runs different prepared statements in one round trip. An error of one fails all. */
export type ExecuteAll = (
  statements: readonly PreparedStatement[],
) => Promise<readonly QueryArrayResult[]>

/** A connection for one transaction, or for statements that run one after the other. */
export interface PooledClient {
  /** Runs statements in order, after those that are held, in one round trip. */
  query(...statements: readonly Statement[]): Promise<readonly pg.QueryResult[]>
  /**
   * Holds a statement whose result is not needed. It is sent with the next query or commit, which
   * fails if it fails.
   */
  hold(statement: Statement): void
  /** Begins a transaction with the next query. */
  begin(): void
  commit(): Promise<void>
  rollback(): Promise<void>
  release(): void
}

export interface GuardedPool {
  /** @throws Failure `unavailable` */
  connect(): PooledClient
  readonly execute: Execute
  readonly executeAll: ExecuteAll
}

/**
 * Guards the connections of a pool. Server and network errors become `Failure('unavailable')`, and
 * connections with such an error are not reused, unless a statement conflicted with another
 * transaction. {@link InFlight} counts every connection in use, and {@link HealthMonitor} tracks
 * every pending query. If the response to a COMMIT is lost, the outcome is looked up before it is
 * reported.
 *
 * A connection is acquired with the first statement, which determines whether it is for reading or
 * writing.
 */
export function guardPool(deps: GuardedPoolDeps): GuardedPool {
  const { inFlight, health } = deps
  const connect = () => {
    inFlight.enter()
    try {
      health.require()
      return new LazyClient(deps)
    } catch (error) {
      inFlight.leave()
      throw error
    }
  }
  const executeAll: ExecuteAll = async (statements) => {
    const client = connect()
    try {
      return (await client.query(...statements)) as unknown as QueryArrayResult[]
    } finally {
      client.release()
    }
  }
  return {
    connect,
    executeAll,
    async execute(statement) {
      const [result] = await executeAll([statement])
      return result as QueryArrayResult
    },
  }
}

/** A client that acquires its connection with the first query. */
class LazyClient implements PooledClient {
  readonly #deps: GuardedPoolDeps
  #held: Statement[] = []
  #connected: { readonly client: GuardedClient; readonly release: () => void } | undefined

  constructor(deps: GuardedPoolDeps) {
    this.#deps = deps
  }

  async query(...statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
    const held = this.#held
    this.#held = []
    const results = await this.#send([...held, ...statements])
    return results.slice(held.length)
  }

  hold(statement: Statement): void {
    this.#held.push(statement)
  }

  begin(): void {
    this.hold(BEGIN)
  }

  async commit(): Promise<void> {
    if (this.#isUnsent) {
      if (this.#held.length === 1) return this.rollback()
      // Reads the id of the transaction before the commit: the outcome is looked up by it.
      await this.query()
    }
    const [result] = await this.query(COMMIT)
    // PostgreSQL responds to COMMIT with ROLLBACK if an earlier statement has failed.
    if (result?.command === 'ROLLBACK') throw new Error('an error has aborted the transaction')
  }

  async rollback(): Promise<void> {
    const isUnsent = this.#isUnsent
    this.#held = []
    if (!isUnsent && this.#connected !== undefined) await this.#send([ROLLBACK])
  }

  release(): void {
    this.#connected?.client.release()
    this.#connected?.release()
    this.#deps.inFlight.leave()
  }

  /** Whether a transaction was begun and none of its statements was sent. */
  get #isUnsent(): boolean {
    return this.#held[0] === BEGIN
  }

  async #send(statements: readonly Statement[]): Promise<readonly pg.QueryResult[]> {
    const client = this.#connected?.client ?? (await this.#connect(statements))
    return client.send(statements)
  }

  async #connect([first]: readonly Statement[]): Promise<GuardedClient> {
    const { connections, health, limits } = this.#deps
    const purpose = first !== undefined && isReadOnly(first) ? 'read' : 'write'
    const release = await limits.connection(purpose)
    try {
      health.require()
      const client = guardClient(await acquire(connections, health), this.#deps)
      this.#connected = { client, release }
      return client
    } catch (error) {
      release()
      throw postgresError(error)
    }
  }
}

/**
 * Acquires a connection of the pool, and closes outdated ones. Rejects if the database becomes
 * unavailable while it waits.
 */
async function acquire(connections: Pool, health: HealthMonitor): Promise<pg.PoolClient> {
  for (;;) {
    const client = await acquireAny(connections.pool, health)
    if (!connections.isOutdated(client)) return client
    client.release(true)
  }
}

function acquireAny(pool: pg.Pool, health: HealthMonitor): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let rejected = false
    const done = health.track({
      fail(failure) {
        rejected = true
        reject(failure)
      },
    })
    pool.connect().then(
      (client) => {
        done()
        if (rejected) client.release(true)
        else resolve(client)
      },
      (error: unknown) => {
        done()
        health.checkNow()
        reject(error)
      },
    )
  })
}
