import type { CompiledQuery } from 'kysely'
import pg from 'pg'
import { InFlight } from '../../concurrency/in-flight.ts'
import { Failure, systemCode } from '../../failure.ts'
import { ConnectionLimits } from '../availability/connection-limits.ts'
import { HealthMonitor, type Outage, withTimeout } from '../availability/health-monitor.ts'
import type { UntilAvailable } from '../availability/until-available.ts'
import type { Engine, EngineSnapshot, NotificationTopic, StoreRole } from '../engine.ts'
import { Lookups } from './batch/lookups.ts'
import { RoundTripPace } from './batch/pace.ts'
import { RowChanges } from './batch/row-changes.ts'
import { openFirstConnection } from './connections/first-connection.ts'
import { type GuardedPool, guardPool } from './connections/guarded-pool.ts'
import { createPool } from './connections/pool.ts'
import { probePostgres } from './connections/probe.ts'
import { createAfterMigrations, createPostgresDialect } from './dialect.ts'
import { listenForNotifications, REVISION_QUERY } from './notifications.ts'

/** Delay before the revision is also requested over the pool, ms. */
const HEDGE_DELAY = 500

/**
 * Connects to PostgreSQL.
 *
 * @param onAvailabilityChange see `openStore`.
 * @throws Failure `not-found` if the database contains no store (role `command` only); `unavailable`
 * if the server is unreachable, rejects the connection or cannot be used.
 */
export async function openPostgres(
  databaseUrl: string,
  role: StoreRole,
  onAvailabilityChange: (outage: Outage | undefined) => void,
  untilAvailable: UntilAvailable = (step) => step(),
): Promise<Engine> {
  const address = databaseAddress(databaseUrl)
  const connections = createPool(databaseUrl)
  const { pool } = connections
  try {
    await untilAvailable(() => openFirstConnection(connections, address, role))
  } catch (error) {
    await pool.end()
    throw error
  }
  const inFlight = new InFlight()
  const health = new HealthMonitor({
    probe: (processes) => probePostgres(databaseUrl, processes),
    changed(outage) {
      if (outage === undefined) {
        notifications.onAvailable()
      } else {
        connections.destroyConnections()
        notifications.onUnavailable()
      }
      onAvailabilityChange(outage)
    },
  })
  let changed = false
  let notify: (topic: NotificationTopic) => void = () => {}
  let feedChanged: (feed?: number) => void = () => {}
  let writeFailed: (failure: unknown) => void = () => {}
  const notifications = listenForNotifications(
    databaseUrl,
    (topic) => {
      if (topic === 'changes' || topic === 'all') changed = true
      notify(topic)
    },
    (feed) => feedChanged(feed),
    // The node queries this connection periodically, so an outage is detected even when the node is
    // idle.
    () => health.checkNow(),
  )
  const limits = new ConnectionLimits(health)
  const guarded = guardPool({
    connections,
    connectionString: databaseUrl,
    inFlight,
    health,
    limits,
    onFailure: (failure) => writeFailed(failure),
  })
  const pace = new RoundTripPace()
  const lookups = new Lookups(guarded.executeAll, pace)
  const rowChanges = new RowChanges(guarded.execute, pace)
  return {
    name: 'postgres',
    dialect: createPostgresDialect(guarded),
    afterMigrations: createAfterMigrations(guarded),
    prepareLookup: lookups.prepare,
    prepareChange: rowChanges.prepare,
    openSnapshot: () => openPostgresSnapshot(guarded),
    async watch(onNotification, onFeedChange) {
      notify = onNotification
      feedChanged = onFeedChange
      if (role === 'node') await notifications.start()
    },
    changedOutside() {
      const was = changed
      changed = false
      return was
    },
    connections() {
      const { used, waiting } = limits.use
      return { used, waiting: waiting + lookups.waiting + rowChanges.waiting }
    },
    runLong: (run) => limits.long(run),
    acquireLock: (name) => notifications.acquireLock(name),
    async readRevision() {
      const reading = notifications.readRevision()
      const early = await withTimeout(
        HEDGE_DELAY,
        reading.catch(() => undefined),
        undefined,
      )
      if (early !== undefined) return early
      return Promise.any([reading, readRevision(guarded)]).catch(({ errors }: AggregateError) => {
        throw errors.at(-1)
      })
    },
    onWriteFailure(callback) {
      writeFailed = callback
    },
    // An open session keeps the `default_transaction_read_only` that it started with.
    renewConnections: () => connections.renew(),
    outage: () => health.outage,
    recovered: () => health.recovered(),
    async close() {
      await Promise.all([lookups.close(), rowChanges.close()])
      await Promise.all([inFlight.close(), notifications.stop()])
      // A notification about this node's last changes may have arrived.
      changed = false
      await health.stop()
      // The pool would wait for an unavailable server to close each connection.
      if (health.outage !== undefined) connections.destroyConnections()
      await pool.end()
    },
  }
}

/** Reads the revision over a connection of the pool. */
async function readRevision(pool: GuardedPool): Promise<number> {
  const client = pool.connect()
  try {
    const [result] = await client.query({ text: REVISION_QUERY, values: [] })
    return Number(result?.rows[0]?.value)
  } finally {
    client.release()
  }
}

/**
 * Returns host, port and database of the URL, without user and password. The host of a Unix socket
 * is its folder.
 *
 * @throws Failure `unavailable` if `pg` cannot parse the URL, or cannot read a file that it names.
 */
export function databaseAddress(databaseUrl: string): string {
  try {
    if (!/^postgres(?:ql)?:/.test(databaseUrl)) throw invalidUrl()
    const { host, port, database } = new pg.Client({ connectionString: databaseUrl })
    return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EACCES') {
      throw new Failure('unavailable', `A file of the database URL: ${(error as Error).message}.`)
    }
    throw invalidUrl()
  }
}

/** Without `cause`: the error of the URL parser may contain the whole URL, including the password. */
const invalidUrl = () => new Failure('unavailable', 'The database URL is invalid.')

/**
 * How long PostgreSQL waits for the next query of a snapshot, ms. The snapshot of a node that is
 * suspended must not keep the server from removing dead rows. Longer than a node waits for the
 * client of an export.
 */
const IDLE = 120_000

/**
 * Opens a read-only transaction with a snapshot on a separate connection.
 *
 * @throws Failure `unavailable`
 */
async function openPostgresSnapshot(pool: GuardedPool): Promise<EngineSnapshot> {
  const client = pool.connect()
  const hold = (text: string) => client.hold({ text, values: [] })
  hold('begin isolation level repeatable read read only')
  hold(`set local idle_in_transaction_session_timeout = ${IDLE}`)
  try {
    // The snapshot is taken by the first query.
    await client.query({ text: 'select 1', values: [] })
  } catch (error) {
    client.release()
    throw error
  }
  return {
    async execute<R>({ sql: text, parameters }: CompiledQuery<R>) {
      const [result] = await client.query({ text, values: parameters })
      return { rows: result?.rows as R[] }
    },
    async close() {
      try {
        await client.rollback()
      } finally {
        client.release()
      }
    },
  }
}
