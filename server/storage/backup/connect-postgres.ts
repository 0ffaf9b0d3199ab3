import pg from 'pg'
import { Failure } from '../../failure.ts'
import { postgresTypes, SET_SYNCHRONOUS_COMMIT } from '../postgres/connections/pool.ts'
import { disconnect, reasonOf } from '../postgres/connections/probe.ts'
import { databaseAddress } from '../postgres/open-postgres.ts'

/** Maximum time to connect, ms. */
const CONNECT = 10_000

/**
 * Removes the time limits that the server, the database or the role may have, and limits the time
 * that a statement waits for a lock. Versions before 17 have no `transaction_timeout`.
 */
const SET_TIMEOUTS = `
  select set_config(name, case name when 'lock_timeout' then '10s' else '0' end, false)
  from pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout',
    'lock_timeout')`

/** A connection for one long transaction. */
export interface PostgresConnection {
  readonly client: pg.Client
  /** Host and database, for messages. */
  readonly location: string
  /** Closes the connection immediately. An open transaction is rolled back. */
  close(): void
}

/**
 * Opens a connection for one long transaction, without a time limit for statements.
 *
 * @throws Failure `unavailable`
 */
export async function connectPostgres(databaseUrl: string): Promise<PostgresConnection> {
  const location = databaseAddress(databaseUrl)
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'gatehouse',
    connectionTimeoutMillis: CONNECT,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: postgresTypes,
  })
  // The running query fails with the error. Without a listener, it would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`${SET_TIMEOUTS}; select ${SET_SYNCHRONOUS_COMMIT}`)
  } catch (error) {
    disconnect(client)
    throw new Failure(
      'unavailable',
      `PostgreSQL at ${location} cannot be used: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    )
  }
  return { client, location, close: () => disconnect(client) }
}
