import pg from 'pg'
import { Failure } from '../../failure.ts'
import { placeOf } from '../postgres.ts'
import { leave, reasonOf } from '../postgres-look.ts'
import { postgresTypes } from '../postgres-pool.ts'

/** How long connecting may take, ms. */
const CONNECT = 10_000

/** A connection for one long transaction. */
export interface PostgresConnection {
  readonly client: pg.Client
  /** Host and database, for people. */
  readonly place: string
  /** Ends it at once; a transaction that is open is rolled back. */
  close(): void
}

/**
 * Connects to a PostgreSQL for one long transaction: no statement of it has a time limit.
 *
 * @throws Failure `unavailable`
 */
export async function connectPostgres(databaseUrl: string): Promise<PostgresConnection> {
  const place = placeOf(databaseUrl)
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
  // The query that is running fails with it; without a listener it would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    leave(client)
    throw new Failure('unavailable', `PostgreSQL at ${place} cannot be used: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
  return { client, place, close: () => leave(client) }
}
