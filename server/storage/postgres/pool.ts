import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { Failure } from '../failure.ts'
import { CONNECTIONS, type ConnectionLimits } from './connection-limits.ts'
import type { InFlight } from './in-flight.ts'
import { Client, CONNECT, cutOff } from './postgres-look.ts'
import { type ServerLife, settleCommit } from './postgres-outcome.ts'
import { cannotBeReached, type Reach, within } from './reach.ts'
import { hasSpoken, OutcomeUnknown, postgresError } from './unavailable.ts'

/** `int8`: a string by default, because it may exceed 2^53. What we store there never does. */
const int8 = 20

/** How values of PostgreSQL are read: as `pg` does, but `int8` as a number. */
export const postgresTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
}

/** What is known of a connection since it was made. */
interface Known extends ServerLife {
  /** The process of the server at its other end; undefined where a pooler stands in between. */
  readonly worker: number | undefined
}

const known = new WeakMap<pg.ClientBase, Known>()

/** The connections to one PostgreSQL, and their common end. */
export interface Pool {
  readonly pool: pg.Pool
  /** Ends every connection at once, with what waits on it: the server is gone. */
  cutOff(): void
  /** Has every connection replaced before its next use. */
  renew(): void
  /** Whether a connection is to be replaced. */
  isOutdated(client: pg.ClientBase): boolean
}

/**
 * Makes the connections to one PostgreSQL, with limits, so that a server that hangs makes requests
 * fail instead of piling up. Durations in milliseconds.
 */
export function createPool(connectionString: string): Pool {
  const clients = new Set<pg.ClientBase>()
  class PoolClient extends Client {
    constructor(config: pg.ClientConfig) {
      super(config)
      // From now on, because the pool tells only of clients that have connected.
      clients.add(this)
      this.once('end', () => clients.delete(this))
      this.on('error', () => {})
    }
  }
  const pool = new pg.Pool({
    connectionString,
    // The types of `pg` leave out what the pool gives to it.
    Client: PoolClient as unknown as new () => pg.ClientBase,
    application_name: 'gatehouse',
    max: CONNECTIONS.all,
    connectionTimeoutMillis: CONNECT,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server gives up first; `query_timeout` is for when its word does not arrive.
    statement_timeout: 30_000,
    query_timeout: 40_000,
    // A node that is paused or gone in the middle of a change holds up the others no longer than
    // the first; who waits for it outlasts that.
    idle_in_transaction_session_timeout: 5_000,
    lock_timeout: 10_000,
    onConnect: getToKnow,
    types: postgresTypes,
  })
  // A connection that breaks leaves the pool by itself, and the next query on it fails; but an
  // error that nobody listens to would end the process. The pool reports those of idle
  // connections, each client its own while it is out and no query is running.
  pool.on('error', () => {})
  let outdated = new WeakSet<pg.ClientBase>()
  return {
    pool,
    cutOff() {
      for (const client of clients) cutOff(client)
    },
    renew() {
      outdated = new WeakSet(clients)
    },
    isOutdated: (client) => outdated.has(client),
  }
}

async function getToKnow(client: pg.ClientBase): Promise<void> {
  const asked = client.query<{ worker: number; life: string | null }>(
    'select pg_backend_pid() as worker, stats_reset::text as life from pg_stat_bgwriter',
  )
  const answer = await within(CONNECT, asked, undefined)
  // The pool ends what it was refused; but it would wait for a server that does not answer.
  if (answer === undefined) cutOff(client)
  const [row] = (await asked).rows
  const { processID } = client as unknown as { processID: number | null }
  known.set(client, {
    worker: row?.worker === processID ? row?.worker : undefined,
    life: row?.life ?? undefined,
  })
}

/** What {@link guardPool} needs. */
export interface GuardedPoolDeps {
  readonly connections: Pool
  readonly connectionString: string
  readonly inFlight: InFlight
  readonly reach: Reach
  readonly limits: ConnectionLimits
  /** Called with the failure of each query. */
  readonly failed: (failure: unknown) => void
}

/**
 * The pool as Kysely takes it: errors of the server and of the way to it become
 * `Failure('unavailable')`, connections that had one are not used again, {@link InFlight} knows of
 * every connection that is out, and {@link Reach} of everything that waits. A commit whose answer
 * was lost is looked up before anything is said about it.
 *
 * A connection is taken with the first statement, which says whether it reads or writes.
 */
export function guardPool(deps: GuardedPoolDeps): PostgresPool {
  const { connections, inFlight, reach } = deps
  return {
    options: connections.pool.options,
    async connect(): Promise<PostgresPoolClient> {
      inFlight.enter()
      try {
        reach.require()
        return connectLater(deps)
      } catch (error) {
        inFlight.leave()
        throw error
      }
    },
    end: () => connections.pool.end(),
  }
}

/** Whether a statement outside of transactions changes nothing. */
const onlyReads = (sql: string): boolean =>
  /^\s*(?:select|set|show|values|with recursive)\b/i.test(sql)

/** A client that connects with its first query. */
function connectLater(deps: GuardedPoolDeps): PostgresPoolClient {
  let connected: { readonly client: GuardedClient; readonly giveBack: () => void } | undefined
  const connect = async (sql: string): Promise<GuardedClient> => {
    const giveBack = await deps.limits.connection(onlyReads(sql) ? 'read' : 'write')
    try {
      deps.reach.require()
      const client = guardClient(await acquire(deps.connections, deps.reach), deps)
      connected = { client, giveBack }
      return client
    } catch (error) {
      giveBack()
      throw postgresError(error)
    }
  }
  const query = async (sql: string, parameters: readonly unknown[]) => {
    const client = connected?.client ?? (await connect(sql))
    return client.query(sql, parameters)
  }
  return {
    // Kysely's type has an overload for cursors, which it uses for streams alone.
    query: query as unknown as PostgresPoolClient['query'],
    release(destroy?: boolean): void {
      connected?.client.release(destroy)
      connected?.giveBack()
      deps.inFlight.leave()
    },
  }
}

/** A connection of the pool; whoever was refused one because the store is away does not get it later. */
async function acquire(connections: Pool, reach: Reach): Promise<pg.PoolClient> {
  for (;;) {
    const client = await acquireAny(connections.pool, reach)
    if (!connections.isOutdated(client)) return client
    client.release(true)
  }
}

function acquireAny(pool: pg.Pool, reach: Reach): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let refused = false
    const done = reach.wait({
      abandon(failure) {
        refused = true
        reject(failure)
      },
    })
    pool.connect().then(
      (client) => {
        done()
        if (refused) client.release(true)
        else resolve(client)
      },
      (error: unknown) => {
        done()
        reach.suspect()
        reject(error)
      },
    )
  })
}

const nothing: PostgresQueryResult<never> = { command: 'ROLLBACK', rowCount: 0, rows: [] }

interface GuardedClient {
  query(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<never>>
  release(destroy?: boolean): void
}

function guardClient(
  client: pg.PoolClient,
  { connectionString, reach, failed }: GuardedPoolDeps,
): GuardedClient {
  const { worker, life } = known.get(client) ?? {}
  const abandon = () => cutOff(client)
  let broken = false
  /** The transaction that is open, by the name that the server gave it. */
  let transaction: string | undefined
  const ask = async (sql: string, parameters: readonly unknown[]): Promise<unknown> => {
    if (sql !== 'begin') return client.query(sql, [...parameters])
    // By one message: the name by which the transaction can be asked for later costs no time.
    const answers: unknown = await client.query('begin; select pg_current_xact_id()::text as name')
    const [begun, named] = answers as [pg.QueryResult, pg.QueryResult<{ name: string }>]
    transaction = named.rows[0]?.name
    return begun
  }
  const query: GuardedClient['query'] = async (sql, parameters) => {
    // The connection is thrown away, and the transaction with it.
    if (broken && sql === 'rollback') return nothing
    const done = reach.wait({ worker, abandon })
    try {
      return (await ask(sql, parameters)) as PostgresQueryResult<never>
    } catch (error) {
      const thrown = postgresError(error)
      failed(thrown)
      // A query that timed out here may still be running there, before whatever comes next.
      broken ||= thrown instanceof Failure && thrown.code === 'unavailable'
      if (!broken || hasSpoken(error)) throw thrown
      reach.suspect()
      if (sql === 'commit' && transaction !== undefined) {
        await settleCommit(connectionString, transaction, { life }, reach, thrown)
        return { command: 'COMMIT', rowCount: 0, rows: [] }
      }
      if (transaction === undefined && !onlyReads(sql)) {
        throw new OutcomeUnknown({ cause: error })
      }
      throw reach.away === undefined ? thrown : cannotBeReached(error)
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
