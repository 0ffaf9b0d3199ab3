import type pg from 'pg'
import { unavailableError } from '../availability/health-monitor.ts'
import type { NotificationTopic } from '../engine.ts'
import { Client, destroyConnection } from './connections/probe.ts'
import { postgresError } from './postgres-error.ts'

/** Channel for {@link https://www.postgresql.org/docs/current/sql-notify.html | NOTIFY}. */
const CHANNEL = 'gatehouse'

/** Channel on which the trigger `feed_numbers` names the feed that has a new change. */
const FEED_CHANNEL = 'gatehouse_feed'

/** Query that reads the revision of the store. */
export const REVISION_QUERY = "select value from counters where name = 'revision'"

/** Maximum time to wait for a response before the connection is closed, ms. */
const RESPONSE_TIMEOUT = 2_500

/** Backoff between attempts to connect, ms. Doubles from `first` to `longest`. */
const BACKOFF = { first: 100, longest: 2_000 }

/** The connection on which a node receives notifications from other nodes. */
export interface Notifications {
  /** Connects, and resolves once LISTEN is active. @throws Failure `unavailable` */
  start(): Promise<void>
  /** See `Store.acquireLock`. */
  acquireLock(name: string): Promise<boolean>
  /**
   * Reads the revision of the store. A connection that does not respond is closed and replaced.
   *
   * @throws Failure `unavailable`, immediately if there is no connection.
   */
  readRevision(): Promise<number>
  /** Called when the server is unavailable: closes the connection and schedules a reconnect. */
  onUnavailable(): void
  /**
   * Called when the server recovers: reconnects without waiting for the current pause or attempt.
   */
  onAvailable(): void
  stop(): Promise<void>
}

/**
 * Listens for notifications on a dedicated connection, and reconnects whenever it breaks or stops
 * responding. A notification names what to reload, not the new state, so lost and duplicate
 * notifications are harmless: the node checks the revision every second (`health/freshness.ts`) and
 * reloads everything after an interruption.
 *
 * @param onNotification called for each notification, and with `all` after a reconnect.
 * @param onFeed called with the id of a feed that has changed; undefined after a reconnect: any.
 * @param onInterrupted called when the connection breaks or is closed because it does not respond.
 */
export function listenForNotifications(
  connectionString: string,
  onNotification: (topic: NotificationTopic) => void,
  onFeed: (feed?: number) => void,
  onInterrupted: () => void,
): Notifications {
  let client: pg.Client | undefined
  let attempt: pg.Client | undefined
  let heldLocks = new Set<string>()
  let started = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let failures = 0

  function schedule(run: () => Promise<void>, ms: number): void {
    if (stopped) return
    timer = setTimeout(() => void run(), ms)
    timer.unref()
  }

  async function connect(): Promise<void> {
    const next = new Client({
      connectionString,
      application_name: 'gatehouse notices',
      query_timeout: RESPONSE_TIMEOUT,
      // Queries may overlap: the revision is read again while an earlier response is outstanding.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    // Without a listener, the error would end the process. The 'end' event triggers the reconnect.
    next.on('error', () => {})
    next.on('notification', ({ channel, payload = '' }) => {
      if (channel === FEED_CHANNEL) onFeed(Number(payload))
      else onNotification(isTopic(payload) ? payload : 'all')
    })
    attempt = next
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}; listen ${FEED_CHANNEL}`)
    } catch (error) {
      abort(next)
      throw postgresError(error)
    } finally {
      if (attempt === next) attempt = undefined
    }
    client = next
    started = true
    heldLocks = new Set()
    failures = 0
    next.once('end', () => onLost(next))
    if (stopped) abort(next)
  }

  async function reconnect(): Promise<void> {
    try {
      await connect()
      onNotification('all')
      onFeed()
    } catch {
      schedule(reconnect, Math.min(BACKOFF.first * 2 ** failures++, BACKOFF.longest))
    }
  }

  function onLost(which: pg.Client): void {
    if (client !== which) return
    client = undefined
    heldLocks.clear()
    clearTimeout(timer)
    if (!stopped) onInterrupted()
    schedule(reconnect, BACKOFF.first)
  }

  /** Runs a query. If it fails, the connection is closed, which releases its locks. */
  async function runQuery<R extends pg.QueryResultRow>(
    connection: pg.Client,
    text: string,
    values: string[] = [],
  ): Promise<R | undefined> {
    try {
      const { rows } = await connection.query<R>(text, values)
      return rows[0]
    } catch (error) {
      abort(connection)
      onLost(connection)
      throw postgresError(error)
    }
  }

  return {
    start: connect,
    async acquireLock(name) {
      if (heldLocks.has(name)) return true
      const connection = client
      if (connection === undefined) throw unavailableError()
      const row = await runQuery<{ held: boolean }>(
        connection,
        'select pg_try_advisory_lock(hashtext($1), hashtext($2)) as held',
        [CHANNEL, name],
      )
      if (row?.held !== true || connection !== client) return false
      heldLocks.add(name)
      return true
    },
    async readRevision() {
      if (client === undefined) throw unavailableError()
      return Number((await runQuery<{ value: string }>(client, REVISION_QUERY))?.value)
    },
    onUnavailable() {
      if (client === undefined) return
      const closed = client
      abort(closed)
      onLost(closed)
    },
    onAvailable() {
      if (!started || stopped || client !== undefined) return
      failures = 0
      clearTimeout(timer)
      // Destroy the socket only, so that the pending attempt fails and `reconnect` retries.
      if (attempt !== undefined) destroyConnection(attempt)
      else void reconnect()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const last = client
      client = undefined
      if (last !== undefined)
        await Promise.race([last.end().catch(() => {}), wait(RESPONSE_TIMEOUT)])
    },
  }
}

/** Closes a connection without waiting for the server, which may not respond. */
function abort(client: pg.Client): void {
  client.end().catch(() => {})
  ;(
    client as unknown as { connection?: { stream?: { destroy(): void } } }
  ).connection?.stream?.destroy()
}

const isTopic = (text: string): text is NotificationTopic =>
  text === 'changes' || text === 'access' || text === 'nodes'

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())
