import type { LastMinute } from '../contract/endpoints/listener.ts'
import { DURATION_BOUNDS, SAMPLE_SECONDS, SAMPLES } from '../contract/endpoints/traffic.ts'

/**
 * The status of a response; or that an identity provider reported an error to a callback, which has
 * status 500 although this server has no error.
 */
export type CountedStatus = number | 'provider_error'

/** Statuses of requests that are rejected because of their sender, host or rate. */
const REJECTED: ReadonlySet<CountedStatus> = new Set([401, 403, 421, 429])

/** Number of sampling periods in a minute. */
const MINUTE = 60 / SAMPLE_SECONDS

/**
 * Traffic counters of one listener since its creation. Plain numbers, because every request updates
 * them.
 */
export class Traffic {
  requests = 0
  /** Number of requests answered with status 400 or higher, including errors of providers. */
  errors = 0
  /** Connections that the policy closed before anything was read, by rule. */
  readonly refused = { allow: 0, maxConnections: 0 }
  /** Number of rejected requests whose status does not imply it. */
  rejected = 0
  /** Bytes of closed connections only; open connections count their own. */
  bytesIn = 0
  bytesOut = 0
  /** When the last request ended, ms since 1970; 0 before the first. */
  lastRequest = 0
  /** Average over the last sampling period (see {@link sample}). */
  requestsPerSecond = 0
  // Allocated at the first request: thousands of listeners may be idle.
  #statuses: Map<CountedStatus, number> | undefined
  #durations: Float64Array | undefined
  #seconds = 0
  #sampledRequests = 0
  /** The counters at the end of each period of the last minute, oldest first. */
  readonly #minute: LastMinute[] = []
  /** What {@link takeCounts} has returned so far. */
  #taken: readonly number[] = []

  /**
   * Counts one answered request. `milliseconds` is the time from its parsed head to its response
   * being written.
   */
  count(status: CountedStatus, milliseconds: number, now: number): void {
    this.requests++
    if (status === 'provider_error' || status >= 400) this.errors++
    this.lastRequest = now
    this.#statuses ??= new Map()
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    this.#durations ??= new Float64Array(DURATION_BOUNDS.length + 1)
    const seconds = milliseconds / 1000
    let bucket = 0
    while (bucket < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[bucket] as number))
      bucket++
    this.#durations[bucket] = (this.#durations[bucket] as number) + 1
    this.#seconds += seconds
  }

  /** Adds the requests and bytes of another listener. */
  add(other: Traffic): void {
    this.requests += other.requests
    this.errors += other.errors
    this.bytesIn += other.bytesIn
    this.bytesOut += other.bytesOut
    this.refused.allow += other.refused.allow
    this.refused.maxConnections += other.refused.maxConnections
    for (const [status, count] of other.statuses) {
      this.#statuses ??= new Map()
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + count)
    }
    const { buckets, seconds } = other.durations
    this.#durations = this.durations.buckets.map((count, at) => count + (buckets[at] as number))
    this.#seconds += seconds
  }

  /** Ends a sampling period of `seconds` and updates {@link requestsPerSecond}. */
  sample(seconds: number): void {
    this.requestsPerSecond = (this.requests - this.#sampledRequests) / seconds
    this.#sampledRequests = this.requests
    // Thousands of listeners may be idle.
    if (this.total === 0) return
    this.#minute.push(this.#counted)
    if (this.#minute.length > MINUTE) this.#minute.shift()
  }

  /** The requests of the last minute, including those of the current sampling period. */
  get lastMinute(): LastMinute {
    const { requests, rejected, failed } = this.#counted
    const oldest = this.#minute.length === MINUTE ? this.#minute[0] : undefined
    const before = oldest ?? { requests: 0, rejected: 0, failed: 0 }
    return {
      requests: requests - before.requests,
      rejected: rejected - before.rejected,
      failed: failed - before.failed,
    }
  }

  /**
   * Returns what was counted since the last call: requests, rejected and failed ones, then those of
   * each bucket of {@link durations}. Undefined if there were none.
   */
  takeCounts(): number[] | undefined {
    const taken = this.#taken
    if (this.total === (taken[0] ?? 0)) return undefined
    const { requests, rejected, failed } = this.#counted
    const counts = [requests, rejected, failed, ...this.durations.buckets]
    this.#taken = counts
    return counts.map((count, at) => count - (taken[at] ?? 0))
  }

  /** Number of answered requests and refused connections, each of which counts as a request. */
  get total(): number {
    return this.requests + this.#refusedConnections
  }

  get #refusedConnections(): number {
    return this.refused.allow + this.refused.maxConnections
  }

  get #counted(): LastMinute {
    const requests = this.total
    let rejected = this.rejected + this.#refusedConnections
    let failed = 0
    for (const [status, count] of this.statuses) {
      if (REJECTED.has(status)) rejected += count
      else if (status !== 'provider_error' && status >= 500) failed += count
    }
    return { requests, rejected, failed }
  }

  /** Answered requests by status. */
  get statuses(): ReadonlyMap<CountedStatus, number> {
    return this.#statuses ?? new Map()
  }

  /** Answered requests per bucket of {@link DURATION_BOUNDS}, and the sum of their durations. */
  get durations(): { readonly buckets: Float64Array; readonly seconds: number } {
    return {
      buckets: this.#durations ?? new Float64Array(DURATION_BOUNDS.length + 1),
      seconds: this.#seconds,
    }
  }
}

/** The series of a sample: amounts per sampling period, except `connections`, a current value. */
const SERIES = ['requests', 'errors', 'bytesIn', 'bytesOut', 'connections'] as const

/** Current counter values. All but `connections` count from the creation of the listener. */
export type Counters = Readonly<Record<(typeof SERIES)[number], number>>

/** Samples of each series, oldest first; null marks a gap. */
export type SampleSeries = Record<keyof Counters, (number | null)[]>

/** Marks a missing sample; larger than any value. */
const GAP = 0xffff_ffff
const PERIOD = SAMPLE_SECONDS * 1_000
const ZERO: Counters = { requests: 0, errors: 0, bytesIn: 0, bytesOut: 0, connections: 0 }

/**
 * Returns the number of the last sample that ended before `now` (ms since 1970). Nodes agree on it.
 */
export const lastSampleAt = (now: number): number => Math.floor(now / PERIOD) - 1

/** Returns when a sample ends, ms since 1970. */
export const sampleEnd = (sample: number): number => (sample + 1) * PERIOD

/**
 * Samples of the last hour of one listener. Samples are numbered from 1970, so a missed sample
 * leaves a gap and does not shift the others. The buffer is allocated at the first traffic and
 * released after an hour without any: thousands of listeners may be idle.
 */
export class TrafficHistory {
  // Without a buffer, all samples since this one are 0.
  #from: number | undefined
  #ring: Uint32Array | undefined
  #last = 0
  #lastBusy = 0
  #before = ZERO

  /** Adds a sample; `undefined` if the listener was not open. */
  add(sample: number, now: Counters | undefined): void {
    // The clock was set back: the kept samples lie in the future.
    if (sample < this.#last) this.#forget()
    if (sample === this.#last) return
    const missed = this.#last !== 0 && sample > this.#last + 1
    if (missed || now === undefined) this.#from = undefined
    if (now !== undefined) {
      this.#from ??= sample
      if (!isQuiet(this.#before, now)) {
        this.#ring ??= this.#unroll(sample)
        this.#lastBusy = sample
      }
    }
    if (this.#ring !== undefined) this.#write(this.#ring, sample, now)
    this.#last = sample
    if (sample - this.#lastBusy >= SAMPLES) this.#rollUp()
  }

  /** Returns `count` samples, the last of which has the number `last`. */
  read(last: number, count = SAMPLES): SampleSeries {
    const series: SampleSeries = {
      requests: [],
      errors: [],
      bytesIn: [],
      bytesOut: [],
      connections: [],
    }
    for (const [kind, name] of SERIES.entries()) {
      for (let sample = last - count + 1; sample <= last; sample++) {
        series[name].push(this.#at(sample, kind))
      }
    }
    return series
  }

  #at(sample: number, kind: number): number | null {
    if (sample > this.#last || sample <= this.#last - SAMPLES) return null
    if (this.#ring === undefined) return sample >= (this.#from ?? GAP) ? 0 : null
    const amount = this.#ring[offsetOf(sample) + kind]
    return amount === undefined || amount === GAP ? null : amount
  }

  #write(ring: Uint32Array, sample: number, now: Counters | undefined): void {
    const first = Math.max(this.#last + 1, sample - SAMPLES + 1)
    for (let each = first; each <= sample; each++) fill(ring, each, GAP)
    if (now === undefined) return
    for (const [kind, name] of SERIES.entries()) {
      const amount = name === 'connections' ? now[name] : now[name] - this.#before[name]
      ring[offsetOf(sample) + kind] = Math.min(amount, GAP - 1)
    }
    this.#before = now
  }

  #unroll(sample: number): Uint32Array {
    const ring = new Uint32Array(SAMPLES * SERIES.length).fill(GAP)
    const first = Math.max(this.#from ?? sample, sample - SAMPLES + 1)
    for (let each = first; each < sample; each++) fill(ring, each, 0)
    return ring
  }

  #rollUp(): void {
    if (this.#ring === undefined) return
    let from = this.#last
    while (from > this.#last - SAMPLES && this.#at(from, 0) !== null) from--
    this.#from = from === this.#last ? undefined : from + 1
    this.#ring = undefined
  }

  #forget(): void {
    this.#from = undefined
    this.#ring = undefined
    this.#last = 0
  }
}

/** Returns requests per second in each of the last `count` samples, oldest first. */
export const recentRates = (history: TrafficHistory, last: number, count: number) =>
  history.read(last, count).requests.map((n) => (n === null ? null : n / SAMPLE_SECONDS))

const offsetOf = (sample: number) => (sample % SAMPLES) * SERIES.length

const fill = (ring: Uint32Array, sample: number, amount: number) =>
  ring.fill(amount, offsetOf(sample), offsetOf(sample) + SERIES.length)

/** Whether there was no traffic and no connection is open. */
const isQuiet = (before: Counters, now: Counters) =>
  now.connections === 0 &&
  now.requests === before.requests &&
  now.bytesIn === before.bytesIn &&
  now.bytesOut === before.bytesOut
