import pg from 'pg'
import { Failure } from '../../failure.ts'
import { locationOf } from '../postgres/open-postgres.ts'
import { postgresTypes } from '../postgres/pool.ts'
import { disconnect, reasonOf } from '../postgres/probe.ts'

/** Maximum time to connect, ms. */
const CONNECT = 10_000

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
  const location = locationOf(databaseUrl)
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'gatehouse',
    connectionTimeoutMillis: CONNECT,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    lock_timeout: 10_000,
    types: postgresTypes,
  })
  // The running query fails with the error. Without a listener, it would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
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
