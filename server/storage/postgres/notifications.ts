import type pg from 'pg'
import { unavailableError } from '../availability/health-monitor.ts'
import { postgresError } from '../availability/unavailable.ts'
import type { NoticeTopic } from '../engine.ts'
import { Client, cutOff } from './probe.ts'

/** Channel for {@link https://www.postgresql.org/docs/current/sql-notify.html | NOTIFY}. */
const CHANNEL = 'gatehouse'

/** Query that reads the revision of the store. */
export const REVISION = "select value from counters where name = 'revision'"

/** Maximum time to wait for a response before the connection is closed, ms. */
const PATIENCE = 2_500

/** Backoff between attempts to connect, ms. Doubles from `first` to `longest`. */
const PAUSE = { first: 100, longest: 2_000 }

/** The connection on which a node receives notices from other nodes. */
export interface Notices {
  /** Connects, and resolves once LISTEN is active. @throws Failure `unavailable` */
  start(): Promise<void>
  /** See `Store.hold`. */
  hold(name: string): Promise<boolean>
  /**
   * Reads the revision of the store. A connection that does not respond is closed and replaced.
   *
   * @throws Failure `unavailable`, immediately if there is no connection.
   */
  readRevision(): Promise<number>
  /** Called when the server is unavailable: closes the connection and schedules a reconnect. */
  away(): void
  /**
   * Called when the server recovers: reconnects without waiting for the current pause or attempt.
   */
  back(): void
  stop(): Promise<void>
}

/**
 * Listens for notices on a dedicated connection, and reconnects whenever it breaks or stops
 * responding. A notice names what to reload, not the new state, so lost and duplicate notices are
 * harmless: the node checks the revision every second (`health/freshness.ts`) and reloads
 * everything after an interruption.
 *
 * @param heard called for each notice, and with `all` after a reconnect.
 * @param interrupted called when the connection breaks or is closed because it does not respond.
 */
export function listenForNotices(
  connectionString: string,
  heard: (topic: NoticeTopic) => void,
  interrupted: () => void,
): Notices {
  let client: pg.Client | undefined
  let attempt: pg.Client | undefined
  let held = new Set<string>()
  let started = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let failures = 0

  function later(run: () => Promise<void>, ms: number): void {
    if (stopped) return
    timer = setTimeout(() => void run(), ms)
    timer.unref()
  }

  async function connect(): Promise<void> {
    const next = new Client({
      connectionString,
      application_name: 'gatehouse notices',
      query_timeout: PATIENCE,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    // Without a listener, the error would end the process. The 'end' event triggers the reconnect.
    next.on('error', () => {})
    next.on('notification', ({ payload = '' }) => heard(isTopic(payload) ? payload : 'all'))
    attempt = next
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}`)
    } catch (error) {
      cut(next)
      throw postgresError(error)
    } finally {
      if (attempt === next) attempt = undefined
    }
    client = next
    started = true
    held = new Set()
    failures = 0
    next.once('end', () => lost(next))
    if (stopped) cut(next)
  }

  async function reconnect(): Promise<void> {
    try {
      await connect()
      heard('all')
    } catch {
      later(reconnect, Math.min(PAUSE.first * 2 ** failures++, PAUSE.longest))
    }
  }

  function lost(which: pg.Client): void {
    if (client !== which) return
    client = undefined
    held.clear()
    clearTimeout(timer)
    if (!stopped) interrupted()
    later(reconnect, PAUSE.first)
  }

  /** Runs a query. If it fails, the connection is closed, which releases its locks. */
  async function ask<R extends pg.QueryResultRow>(
    asked: pg.Client,
    text: string,
    values: string[] = [],
  ): Promise<R | undefined> {
    try {
      const { rows } = await asked.query<R>(text, values)
      return rows[0]
    } catch (error) {
      cut(asked)
      lost(asked)
      throw postgresError(error)
    }
  }

  return {
    start: connect,
    async hold(name) {
      if (held.has(name)) return true
      const asked = client
      if (asked === undefined) throw unavailableError()
      const row = await ask<{ held: boolean }>(
        asked,
        'select pg_try_advisory_lock(hashtext($1), hashtext($2)) as held',
        [CHANNEL, name],
      )
      if (row?.held !== true || asked !== client) return false
      held.add(name)
      return true
    },
    async readRevision() {
      if (client === undefined) throw unavailableError()
      return Number((await ask<{ value: string }>(client, REVISION))?.value)
    },
    away() {
      if (client === undefined) return
      const gone = client
      cut(gone)
      lost(gone)
    },
    back() {
      if (!started || stopped || client !== undefined) return
      failures = 0
      clearTimeout(timer)
      // Destroy the socket only, so that the pending attempt fails and `reconnect` retries.
      if (attempt !== undefined) cutOff(attempt)
      else void reconnect()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const last = client
      client = undefined
      if (last !== undefined) await Promise.race([last.end().catch(() => {}), wait(PATIENCE)])
    },
  }
}

/** Closes a connection without waiting for the server, which may not respond. */
function cut(client: pg.Client): void {
  client.end().catch(() => {})
  ;(
    client as unknown as { connection?: { stream?: { destroy(): void } } }
  ).connection?.stream?.destroy()
}

const isTopic = (text: string): text is NoticeTopic =>
  text === 'changes' || text === 'access' || text === 'nodes' || text === 'endpoint-changes'

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())
