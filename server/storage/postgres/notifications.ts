import type pg from 'pg'
import type { NoticeTopic } from './engine.ts'
import { Client, cutOff } from './postgres-look.ts'
import { cannotBeReached } from './reach.ts'
import { postgresError } from './unavailable.ts'

/** The channel of {@link https://www.postgresql.org/docs/current/sql-notify.html | NOTIFY}. */
const CHANNEL = 'gatehouse'

/** Reads the revision of the store. */
export const REVISION = "select value from counters where name = 'revision'"

/** How long an answer may take before the connection is given up, ms. */
const PATIENCE = 2_500

/** Pauses between attempts to connect, ms: doubled each time from first to longest. */
const PAUSE = { first: 100, longest: 2_000 }

/** The one connection of a node that waits for notices of the others. */
export interface Notices {
  /** Resolves once nothing is missed any more. @throws Failure `unavailable` */
  start(): Promise<void>
  /** See `Store.hold`. */
  hold(name: string): Promise<boolean>
  /**
   * Reads the revision of the store. A connection that does not answer is made anew.
   *
   * @throws Failure `unavailable`, at once while there is no connection.
   */
  readRevision(): Promise<number>
  /** The server is gone: its connection is not waited for, but made anew. */
  away(): void
  /** The server is back: connects now, not when the pause or the attempt has ended. */
  back(): void
  stop(): Promise<void>
}

/**
 * Makes {@link Notices}: LISTEN on a connection of its own, which is connected again whenever it
 * breaks or no longer answers. What it hears says where to look, never what is there, so a lost or
 * doubled notice does no harm: the node asks for the revision every second (`health/freshness.ts`), and
 * looks at everything after each interruption.
 *
 * @param interrupted told when the connection has broken or was given up.
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
    // Without a listener it would end the process; what is to be done is done at 'end'.
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

  /** Asks over a connection; one that fails is given up, with the names that it held. */
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
      if (asked === undefined) throw cannotBeReached()
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
      if (client === undefined) throw cannotBeReached()
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
      // Without saying goodbye: then it is told that it failed.
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

/** Ends a connection without waiting for the other side, which may not answer any more. */
function cut(client: pg.Client): void {
  client.end().catch(() => {})
  ;(
    client as unknown as { connection?: { stream?: { destroy(): void } } }
  ).connection?.stream?.destroy()
}

const isTopic = (text: string): text is NoticeTopic =>
  text === 'changes' || text === 'access' || text === 'nodes'

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())
