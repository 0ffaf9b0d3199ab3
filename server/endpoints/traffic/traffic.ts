import type { LastMinute } from '../../contract/endpoints/listener.ts'
import { SAMPLE_SECONDS } from '../../contract/endpoints/traffic.ts'

/**
 * Upper bounds of the request duration histogram, in seconds. One more bucket counts everything
 * above the last bound.
 */
export const DURATION_BOUNDS: readonly number[] = Object.freeze([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
])

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
    if (this.requests === 0) return
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

  get #counted(): LastMinute {
    let { requests, rejected } = this
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
