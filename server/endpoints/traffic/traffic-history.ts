import { SAMPLE_SECONDS, SAMPLES } from '../../contract/endpoints/traffic.ts'

/** The series of a sample: amounts per sampling period, except `connections`, a current value. */
export const SERIES = ['requests', 'errors', 'bytesIn', 'bytesOut', 'connections'] as const

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
