import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { CONNECTIONS } from '../../availability/connection-limits.ts'
import { withTimeout } from '../../availability/health-monitor.ts'
import type { ServerRun } from './outcome.ts'
import { Client, CONNECT_TIMEOUT, destroyConnection } from './probe.ts'

/**
 * OID of `int8`, which `pg` returns as a string because it may exceed 2^53. Values in the store do
 * not.
 */
const INT8 = 20

/** Type parsers of `pg`, except that `int8` is parsed as a number. */
export const postgresTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
}

/** Properties of a connection, read when it is opened. */
interface ConnectionInfo extends ServerRun {
  /** Process id of the backend; undefined if a connection pooler is in between. */
  readonly backendPid: number | undefined
}

export const connectionInfo = new WeakMap<pg.ClientBase, ConnectionInfo>()

/** Connection pool of one PostgreSQL database. */
export interface Pool {
  readonly pool: pg.Pool
  /** Version of the server, such as `17.2`, once a connection has reported it. */
  readonly serverVersion: string | undefined
  /**
   * Closes every connection immediately, with its pending queries, because the server is
   * unavailable.
   */
  destroyConnections(): void
  /** Marks every connection for replacement before its next use. */
  renew(): void
  /** Returns whether a connection is marked for replacement. */
  isOutdated(client: pg.ClientBase): boolean
}

/**
 * Creates the connection pool. Its timeouts let requests fail when the server hangs, instead of
 * queueing up.
 */
export function createPool(connectionString: string): Pool {
  const clients = new Set<pg.ClientBase>()
  let serverVersion: string | undefined
  class PoolClient extends Client {
    constructor(config: pg.ClientConfig) {
      super(config)
      // Registered here, because the pool reports clients only after they have connected.
      clients.add(this)
      this.once('end', () => clients.delete(this))
      this.on('error', () => {})
      // Not in the types of `pg`.
      const { connection } = this as unknown as { connection: EventEmitter }
      connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        if (parameterName === 'server_version') serverVersion = parameterValue
      })
    }
  }
  const pool = new pg.Pool({
    connectionString,
    // The types of `pg` omit the arguments that the pool passes.
    Client: PoolClient as unknown as new () => pg.ClientBase,
    application_name: 'gatehouse',
    max: CONNECTIONS.all,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: prepareConnection,
    types: postgresTypes,
  })
  // The pool discards broken connections, and their next query fails. Without a listener, the error
  // would end the process. The pool emits errors of idle connections; a connection in use emits its
  // own.
  pool.on('error', () => {})
  let outdated = new WeakSet<pg.ClientBase>()
  return {
    pool,
    get serverVersion() {
      return serverVersion
    },
    destroyConnections() {
      for (const client of clients) destroyConnection(client)
    },
    renew() {
      outdated = new WeakSet(clients)
    },
    isOutdated: (client) => outdated.has(client),
  }
}

/** Settings of each connection. They override those of the server, the database and the role. */
const SETTINGS = {
  // Shorter than `QUERY_TIMEOUT` (`request.ts`), which applies if no response arrives.
  statement_timeout: '30s',
  // A node that is suspended in the middle of a change blocks other nodes no longer than this.
  // Their `lock_timeout` is longer, so they succeed afterwards.
  idle_in_transaction_session_timeout: '5s',
  lock_timeout: '10s',
  // A statement after a lock must read what was committed before the lock was granted.
  default_transaction_isolation: 'read committed',
  // PostgreSQL keeps the plan of a prepared statement until it analyzes the table again. A plan from
  // when the table was small would scan the whole table long after it has grown. An index serves
  // every frequent statement, so scans are disabled: PostgreSQL then uses one only if no index
  // serves. It estimates such a plan as extremely expensive, and would compile it.
  enable_seqscan: 'off',
  jit: 'off',
}

/**
 * Makes a commit wait until it is durable, although the server, the database or the role may turn
 * that off. Stronger values, such as `remote_apply`, are kept.
 */
export const SET_SYNCHRONOUS_COMMIT = `set_config('synchronous_commit',
  regexp_replace(current_setting('synchronous_commit'), '^(off|local)$', 'on'), false)`

/**
 * Changes the {@link SETTINGS} of a connection, and reads its {@link ConnectionInfo}. The settings
 * are not parameters of the connection, which PgBouncer would reject.
 */
async function prepareConnection(client: pg.ClientBase): Promise<void> {
  const settings = Object.entries(SETTINGS).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  const query = client.query<{ pid: number; run_start: string | null }>(`
    select pg_backend_pid() as pid, stats_reset::text as run_start, ${settings.join(', ')},
      ${SET_SYNCHRONOUS_COMMIT}
    from pg_stat_bgwriter`)
  const response = await withTimeout(CONNECT_TIMEOUT, query, undefined)
  // The pool closes rejected connections gracefully, which would wait for the server.
  if (response === undefined) destroyConnection(client)
  const [row] = (await query).rows
  const { processID } = client as unknown as { processID: number | null }
  connectionInfo.set(client, {
    backendPid: row?.pid === processID ? row?.pid : undefined,
    runStart: row?.run_start ?? undefined,
  })
}
