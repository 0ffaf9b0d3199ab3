import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import type { QueryArrayResult } from 'pg'
import { Failure } from '../../failure.ts'
import type { ConnectionLimits } from '../availability/connection-limits.ts'
import { type HealthMonitor, unavailableError } from '../availability/health-monitor.ts'
import { OutcomeUnknown } from '../availability/unavailable.ts'
import type { InFlight } from '../changes/in-flight.ts'
import { resolveCommit } from './outcome.ts'
import { connectionInfo, type Pool } from './pool.ts'
import { isRejectedByServer, postgresError } from './postgres-error.ts'
import { destroyConnection } from './probe.ts'
import { request } from './request.ts'

export interface GuardedPoolDeps {
  readonly connections: Pool
  readonly connectionString: string
  readonly inFlight: InFlight
  readonly health: HealthMonitor
  readonly limits: ConnectionLimits
  /** Called with the failure of each query. */
  readonly onFailure: (failure: unknown) => void
}

/** A prepared statement of the connections of a pool. */
export interface Statement {
  /** Unique for its text. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs a prepared statement outside of transactions. */
export type Execute = (statement: Statement) => Promise<QueryArrayResult>

export interface GuardedPool extends PostgresPool {
  readonly execute: Execute
}

/**
 * Wraps the pool for Kysely. Server and network errors become `Failure('unavailable')`, and
 * connections with such an error are not reused. {@link InFlight} counts every connection in use,
 * and {@link HealthMonitor} tracks every pending query. If the response to a COMMIT is lost, the
 * outcome is looked up before it is reported.
 *
 * A connection is acquired with the first statement, which determines whether it is for reading or
 * writing.
 */
export function guardPool(deps: GuardedPoolDeps): GuardedPool {
  const { connections, inFlight, health } = deps
  const connect = (): GuardedClient => {
    inFlight.enter()
    try {
      health.require()
      return lazyClient(deps)
    } catch (error) {
      inFlight.leave()
      throw error
    }
  }
  return {
    options: connections.pool.options,
    async connect(): Promise<PostgresPoolClient> {
      // Kysely's type has an overload for cursors, which is only used for streams.
      return connect() as unknown as PostgresPoolClient
    },
    async execute({ name, text, values }) {
      const client = connect()
      try {
        return (await client.query(text, values, name)) as unknown as QueryArrayResult
      } finally {
        client.release()
      }
    },
    end: () => connections.pool.end(),
  }
}

/** Returns whether a statement outside of transactions is read-only. */
const isReadOnly = (sql: string): boolean =>
  /^\s*(?:select|set|show|values|with recursive)\b/i.test(sql)

/** Returns whether a statement begins or ends a snapshot (`snapshot.ts`). */
const isControl = (sql: string): boolean => /^(?:begin isolation|rollback)/.test(sql)

/** Returns a client that acquires its connection with the first query. */
function lazyClient(deps: GuardedPoolDeps): GuardedClient {
  let connected: { readonly client: GuardedClient; readonly release: () => void } | undefined
  const connect = async (sql: string): Promise<GuardedClient> => {
    const release = await deps.limits.connection(isReadOnly(sql) ? 'read' : 'write')
    try {
      deps.health.require()
      const client = guardClient(await acquire(deps.connections, deps.health), deps)
      connected = { client, release }
      return client
    } catch (error) {
      release()
      throw postgresError(error)
    }
  }
  return {
    async query(sql, parameters, name) {
      const client = connected?.client ?? (await connect(sql))
      return client.query(sql, parameters, name)
    },
    release(destroy?: boolean): void {
      connected?.client.release(destroy)
      connected?.release()
      deps.inFlight.leave()
    },
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

const ROLLED_BACK: PostgresQueryResult<never> = { command: 'ROLLBACK', rowCount: 0, rows: [] }

interface GuardedClient {
  /** @param name prepares the statement under this name, with arrays as rows. */
  query(
    sql: string,
    parameters: readonly unknown[],
    name?: string,
  ): Promise<PostgresQueryResult<never>>
  release(destroy?: boolean): void
}

function guardClient(
  client: pg.PoolClient,
  { connectionString, health, onFailure }: GuardedPoolDeps,
): GuardedClient {
  const { backendPid, runStart } = connectionInfo.get(client) ?? {}
  const fail = () => destroyConnection(client)
  let broken = false
  /** Id of the open transaction, assigned by the server. */
  let transaction: string | undefined
  const send = async (
    sql: string,
    parameters: readonly unknown[],
    name: string | undefined,
  ): Promise<unknown> => {
    const values = parameters as unknown[]
    if (name !== undefined) {
      return request(client, { name, text: sql, values, rowMode: 'array' })
    }
    if (sql !== 'begin') return request(client, { text: sql, values })
    // One message for both statements, so that the transaction id costs no additional round trip.
    const answers = await request(client, {
      text: 'begin; select pg_current_xact_id()::text as name',
    })
    const [begun, named] = answers as [pg.QueryResult, pg.QueryResult<{ name: string }>]
    transaction = named.rows[0]?.name
    return begun
  }
  const query: GuardedClient['query'] = async (sql, parameters, name) => {
    // The broken connection is closed, which rolls back the transaction.
    if (broken && sql === 'rollback') return ROLLED_BACK
    const done = health.track({ backendPid, fail })
    try {
      return (await send(sql, parameters, name)) as PostgresQueryResult<never>
    } catch (error) {
      // The stack of the caller instead of that of the connection.
      if (error instanceof Error) Error.captureStackTrace(error)
      const thrown = postgresError(error)
      onFailure(thrown)
      // A query that timed out here may still be running on the server.
      broken ||= thrown instanceof Failure && thrown.code === 'unavailable'
      if (!broken || isRejectedByServer(error)) throw thrown
      health.checkNow()
      if (sql === 'commit' && transaction !== undefined) {
        await resolveCommit(connectionString, transaction, { runStart }, health, thrown)
        return { command: 'COMMIT', rowCount: 0, rows: [] }
      }
      if (transaction === undefined && !isReadOnly(sql) && !isControl(sql)) {
        throw new OutcomeUnknown({ cause: error })
      }
      throw health.outage === undefined ? thrown : unavailableError(error)
    } finally {
      done()
      if (sql === 'commit' || sql === 'rollback') transaction = undefined
    }
  }
  return {
    query,
    release: (destroy) => client.release(broken || destroy),
  }
}
