import * as z from 'zod/mini'
import { nextTurn } from '../concurrency/turns.ts'
import { DURATION_BOUNDS } from '../contract/endpoints/traffic.ts'
import {
  type EndpointTraffic,
  STORED_ENDPOINTS,
  TRAFFIC_RANGES,
  type TrafficRange,
  type TrafficStep,
} from '../contract/overview.ts'
import type { Listener } from '../endpoints/listeners/listener.ts'
import { parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { TrafficMinutesTable } from '../storage/tables.ts'

const MINUTE = 60_000

/** How long samples are kept, minutes. */
const KEPT = 24 * 60

/** Time in which all nodes have stored a minute that has ended, ms. */
const SETTLED = 5_000

/** Delay after the end of a minute, ms: timers may fire slightly early. */
const STORE_AFTER = 50

/** Maximum number of results that are kept until the next minute. */
const KEPT_RESULTS = 100

/** In place of an address: all endpoints. */
const TOTAL = ''

/** Requests, rejected and failed ones, and one number per bucket of durations. */
const LENGTH = 3 + DURATION_BOUNDS.length + 1

const counts = z.array(z.int()).check(z.length(LENGTH))

export interface TrafficMinutesDeps {
  readonly store: Store
  readonly node: string
  /** Returns the time, ms since 1970; the same on all nodes. */
  readonly now: () => number
  readonly listeners: () => readonly Pick<Listener, 'name' | 'state' | 'traffic'>[]
}

/** The traffic of all nodes in the steps of a range. */
export interface TrafficSteps {
  /** When the last step ended, ms since 1970. */
  readonly until: number
  readonly steps: (TrafficStep | null)[]
}

type Row = Pick<TrafficMinutesTable, 'minute' | 'counts'>

/** Adds the counts of a row to sums. */
function addTo(sums: number[] | null | undefined, row: Row): void {
  if (sums == null) return
  const added = parseJsonColumn(counts, 'traffic_minutes.counts', row.counts)
  for (const [at, count] of added.entries()) sums[at] = (sums[at] ?? 0) + count
}

export type TrafficMinutes = ReturnType<typeof createTrafficMinutes>

/**
 * Creates the one-minute samples of the last 24 hours, of all endpoints together and of the busiest
 * ones.
 */
export function createTrafficMinutes({ store, node, now, listeners }: TrafficMinutesDeps) {
  const { db } = store
  const results = new Map<string, Promise<unknown>>()
  let resultsUntil = 0

  const stored = (endpoint: string, from: number, until: number) =>
    db
      .selectFrom('traffic_minutes')
      .select(['minute', 'counts', 'open'])
      .where('endpoint', '=', endpoint)
      .where('minute', '>=', from)
      .where('minute', '<', until)
      .execute()

  async function sum(
    endpoints: readonly string[] | undefined,
    range: TrafficRange,
    until: number,
  ): Promise<TrafficSteps> {
    const { steps, minutes } = TRAFFIC_RANGES[range]
    const from = until - steps * minutes
    const sums = Array.from({ length: steps }, (): number[] | null => null)
    const open: number[] = []
    const add = (row: Row) => addTo(sums[Math.floor((row.minute - from) / minutes)], row)
    // A node stores the total even if it is 0, so a minute without one had no node.
    for (const row of await stored(TOTAL, from, until)) {
      const step = Math.floor((row.minute - from) / minutes)
      sums[step] ??= new Array<number>(LENGTH).fill(0)
      open[step] = Math.max(open[step] ?? 0, row.open)
      if (endpoints === undefined) add(row)
    }
    for (const endpoint of endpoints ?? []) {
      for (const row of await stored(endpoint, from, until)) add(row)
      await nextTurn()
    }
    return {
      until: until * MINUTE,
      steps: sums.map((sum, at) => {
        if (sum === null) return null
        const [requests = 0, rejected = 0, failed = 0, ...durations] = sum
        const isTotal = endpoints === undefined
        return { requests, rejected, failed, durations, ...(isTotal && { open: open[at] ?? 0 }) }
      }),
    }
  }

  /** Returns the sums of a range of each endpoint that has requests in it. */
  async function sumEach(endpoints: readonly string[], range: TrafficRange, until: number) {
    const { steps, minutes } = TRAFFIC_RANGES[range]
    const found: EndpointTraffic['endpoints'] = []
    for (const endpoint of endpoints) {
      const sum = new Array<number>(LENGTH).fill(0)
      for (const row of await stored(endpoint, until - steps * minutes, until)) addTo(sum, row)
      const [requests = 0, rejected = 0, failed = 0, ...durations] = sum
      if (requests > 0) found.push({ endpoint, requests, rejected, failed, durations })
      await nextTurn()
    }
    return { until: until * MINUTE, endpoints: found }
  }

  /** Returns what `create` returns for a key, once until the next minute. */
  function keep<T>(key: unknown, create: (until: number) => Promise<T>): Promise<T> {
    const until = Math.floor((now() - SETTLED) / MINUTE)
    if (until !== resultsUntil || results.size >= KEPT_RESULTS) results.clear()
    resultsUntil = until
    const text = JSON.stringify(key)
    const known = results.get(text)
    if (known !== undefined) return known as Promise<T>
    const result = create(until)
    results.set(text, result)
    result.catch(() => results.delete(text))
    return result
  }

  /** Stores what this node has counted since the last call, as the minute that has just ended. */
  async function storeMinute(): Promise<void> {
    const minute = Math.floor(now() / MINUTE) - 1
    const total = new Array<number>(LENGTH).fill(0)
    const byEndpoint = new Map<string, number[]>()
    let open = 0
    for (const { name, state, traffic } of listeners()) {
      if (state === 'listening') open++
      const counted = traffic.takeCounts()
      if (counted === undefined) continue
      const known = byEndpoint.get(name)
      byEndpoint.set(name, known?.map((count, at) => count + (counted[at] ?? 0)) ?? counted)
      for (const [at, count] of counted.entries()) total[at] = (total[at] ?? 0) + count
    }
    const busiest = [...byEndpoint]
      .sort(([, [a = 0]], [, [b = 0]]) => b - a)
      .slice(0, STORED_ENDPOINTS)
    const rows = [[TOTAL, total] as const, ...busiest].map(([endpoint, counts]) => {
      const isTotal = endpoint === TOTAL
      return { endpoint, minute, node, counts: JSON.stringify(counts), open: isTotal ? open : 0 }
    })
    await db
      .insertInto('traffic_minutes')
      .values(rows)
      // The clock was set back.
      .onConflict((conflict) =>
        conflict
          .columns(['endpoint', 'minute', 'node'])
          .doUpdateSet({ counts: (eb) => eb.ref('excluded.counts') }),
      )
      .execute()
    await db
      .deleteFrom('traffic_minutes')
      .where('minute', '<', minute - KEPT)
      .execute()
  }

  return {
    storeMinute,
    /**
     * Returns the traffic in the steps of a range.
     *
     * @param endpoints canonical addresses, whose traffic is added up; undefined: all.
     */
    read: (endpoints: readonly string[] | undefined, range: TrafficRange) =>
      keep([range, endpoints], (until) => sum(endpoints, range, until)),
    /** Returns the traffic of a range of each of some endpoints, if there are requests in it. */
    readEach: (endpoints: readonly string[], range: TrafficRange) =>
      keep(['each', range, endpoints], (until) => sumEach(endpoints, range, until)),
    /** Stores each minute when it ends. Returns a function that stops it. */
    start(onError: (error: unknown) => void): () => void {
      let timer: NodeJS.Timeout
      const wait = () => {
        timer = setTimeout(
          () => {
            storeMinute().catch(onError)
            wait()
          },
          MINUTE - (now() % MINUTE) + STORE_AFTER,
        )
      }
      wait()
      return () => clearTimeout(timer)
    },
  }
}
