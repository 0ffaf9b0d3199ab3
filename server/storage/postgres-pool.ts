import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { Failure } from '../failure.ts'
import type { InFlight } from './in-flight.ts'
import { postgresError } from './unavailable.ts'

/** `int8`: a string by default, because it may exceed 2^53. What we store there never does. */
const int8 = 20

/**
 * The connections to one PostgreSQL, with limits, so that a server that hangs makes requests fail
 * instead of piling up. Durations in milliseconds.
 */
export function createPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'gatehouse',
    max: 10,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server gives up first; `query_timeout` is for when its word does not arrive.
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
    query_timeout: 40_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  // A connection that breaks leaves the pool by itself, and the next query on it fails; but an
  // error that nobody listens to would end the process. The pool reports those of idle
  // connections, each client its own while it is out and no query is running.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * The pool as Kysely takes it: errors of the server and of the way to it become
 * `Failure('unavailable')`, connections that had one are not used again, and {@link InFlight}
 * knows of every connection that is out.
 */
export function guardPool(pool: pg.Pool, inFlight: InFlight): PostgresPool {
  return {
    options: pool.options,
    async connect(): Promise<PostgresPoolClient> {
      inFlight.enter()
      try {
        return guardClient(await pool.connect(), inFlight)
      } catch (error) {
        inFlight.leave()
        throw postgresError(error)
      }
    },
    end: () => pool.end(),
  }
}

function guardClient(client: pg.PoolClient, inFlight: InFlight): PostgresPoolClient {
  let broken = false
  const query = async (sql: string, parameters: readonly unknown[]) => {
    try {
      const result: unknown = await client.query(sql, [...parameters])
      return result as PostgresQueryResult<never>
    } catch (error) {
      const thrown = postgresError(error)
      // A query that timed out here may still be running there, before whatever comes next.
      broken ||= thrown instanceof Failure
      throw thrown
    }
  }
  return {
    // Kysely's type has an overload for cursors, which it uses for streams alone.
    query: query as unknown as PostgresPoolClient['query'],
    release(destroy?: boolean): void {
      client.release(broken || destroy)
      inFlight.leave()
    },
  }
}
