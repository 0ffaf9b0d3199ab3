import { PostgresDialect, type PostgresPool } from 'kysely'
import type pg from 'pg'
import { Failure, systemCode } from '../../failure.ts'
import { ConnectionLimits } from '../availability/connection-limits.ts'
import { HealthMonitor, type Unavailability, within } from '../availability/health-monitor.ts'
import { hasSpoken, StoreUnavailable } from '../availability/unavailable.ts'
import type { UntilAvailable } from '../availability/until-available.ts'
import { InFlight } from '../changes/in-flight.ts'
import type { Engine, NoticeTopic } from '../engine.ts'
import { listenForNotices, REVISION } from './notifications.ts'
import { createPool, guardPool } from './pool.ts'
import { lookAtPostgres, reasonOf } from './probe.ts'

/** Delay before the revision is also requested over the pool, ms. */
const HEDGE = 500

/**
 * Connects to PostgreSQL. A `node` listens for notices from other nodes. A `tool` (a command) does
 * not, because it is short-lived.
 *
 * @param onReach see `openStore`.
 * @throws Failure `unavailable` if the server is unreachable or rejects the connection.
 */
export async function openPostgres(
  databaseUrl: string,
  role: 'node' | 'tool',
  onReach: (away: Unavailability | undefined) => void,
  untilAvailable: UntilAvailable = (step) => step(),
): Promise<Engine> {
  const place = placeOf(databaseUrl)
  const connections = createPool(databaseUrl)
  const { pool } = connections
  try {
    await untilAvailable(() => connectFirst(pool))
  } catch (error) {
    await pool.end()
    if (!(error instanceof StoreUnavailable) && !hasSpoken(error)) throw error
    const cause = error instanceof StoreUnavailable ? error.cause : error
    throw new Failure('unavailable', `PostgreSQL at ${place} cannot be used: ${reasonOf(cause)}.`, {
      cause,
    })
  }
  const inFlight = new InFlight()
  const reach = new HealthMonitor({
    look: (processes) => lookAtPostgres(databaseUrl, processes),
    changed(away) {
      if (away === undefined) {
        notices.back()
      } else {
        connections.cutOff()
        notices.away()
      }
      onReach(away)
    },
  })
  let changed = false
  let tell: (topic: NoticeTopic) => void = () => {}
  let writeFailed: (failure: unknown) => void = () => {}
  const notices = listenForNotices(
    databaseUrl,
    (topic) => {
      if (topic === 'changes' || topic === 'all') changed = true
      tell(topic)
    },
    // The node queries this connection periodically, so an outage is detected even when the node is
    // idle.
    () => reach.suspect(),
  )
  const limits = new ConnectionLimits(reach)
  const guarded = guardPool({
    connections,
    connectionString: databaseUrl,
    inFlight,
    reach,
    limits,
    failed: (failure) => writeFailed(failure),
  })
  return {
    name: 'postgres',
    dialect: new PostgresDialect({ pool: guarded }),
    async watch(heard) {
      tell = heard
      if (role === 'node') await notices.start()
    },
    changedOutside() {
      const was = changed
      changed = false
      return was
    },
    connections: () => limits.use,
    runLong: (run) => limits.long(run),
    hold: (name) => notices.hold(name),
    async readRevision() {
      const heard = notices.readRevision()
      const early = await within(
        HEDGE,
        heard.catch(() => undefined),
        undefined,
      )
      if (early !== undefined) return early
      return Promise.any([heard, readRevision(guarded)]).catch(({ errors }: AggregateError) => {
        throw errors.at(-1)
      })
    },
    onWriteFailure(callback) {
      writeFailed = callback
    },
    // An open session keeps the `default_transaction_read_only` that it started with.
    renewConnections: () => connections.renew(),
    away: () => reach.away,
    returned: () => reach.returned(),
    async close() {
      await Promise.all([inFlight.close(), notices.stop()])
      // A notice about this node's last changes may have arrived.
      changed = false
      await reach.stop()
      // The pool would wait for an unavailable server to close each connection.
      if (reach.away !== undefined) connections.cutOff()
      await pool.end()
    },
  }
}

/** Reads the revision over a connection of the pool. */
async function readRevision(pool: PostgresPool): Promise<number> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ value: number }>(REVISION, [])
    return Number(rows[0]?.value)
  } finally {
    client.release()
  }
}

/** Returns host and database of the URL, without user and password. */
export function placeOf(databaseUrl: string): string {
  // No `cause`: the error of the URL parser contains the whole URL, including the password.
  if (!URL.canParse(databaseUrl)) {
    throw new Failure('unavailable', 'The database URL is invalid.')
  }
  const { host, pathname } = new URL(databaseUrl)
  return `${host}${pathname}`
}

/**
 * Opens the first connection.
 *
 * @throws StoreUnavailable if a later attempt may succeed; otherwise the error of the server, such
 * as a wrong password.
 */
async function connectFirst(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (error) {
    if (hasSpoken(error) && !/^53/.test(systemCode(error) ?? '')) throw error
    throw new StoreUnavailable(undefined, { cause: error })
  }
}
