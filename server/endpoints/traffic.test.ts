import { describe, expect, it } from 'vitest'
import { DURATION_BOUNDS, SAMPLES } from '../contract/endpoints/traffic.ts'
import { type Counters, lastSampleAt, sampleEnd, Traffic, TrafficHistory } from './traffic.ts'

describe('Traffic', () => {
  it('puts a duration in the bucket of the first bound that it does not exceed', () => {
    const traffic = new Traffic()
    for (const ms of [0.5, 0.51, 10_000, 10_001]) traffic.count(200, ms, 1)
    const { buckets, seconds } = traffic.durations
    expect(buckets[0]).toBe(1)
    expect(buckets[1]).toBe(1)
    expect(buckets[DURATION_BOUNDS.length - 1]).toBe(1)
    expect(buckets[DURATION_BOUNDS.length]).toBe(1)
    expect(seconds).toBeCloseTo(20.00201)
  })

  it('counts requests by status, and stores the time of the last', () => {
    const traffic = new Traffic()
    traffic.count(200, 1, 5)
    traffic.count(404, 1, 7)
    traffic.count(200, 1, 9)
    expect([...traffic.statuses]).toEqual([
      [200, 2],
      [404, 1],
    ])
    expect(traffic.lastRequest).toBe(9)
  })

  it('counts statuses of 400 and above as errors', () => {
    const traffic = new Traffic()
    for (const status of [200, 206, 304, 399, 400, 404, 503]) traffic.count(status, 1, 1)
    expect(traffic.errors).toBe(3)
  })

  it('counts the rejected and the failed requests of the last minute', () => {
    const traffic = new Traffic()
    for (const status of [200, 400, 401, 403, 404, 421, 429, 500, 503]) traffic.count(status, 1, 1)
    traffic.count(404, 1, 1)
    traffic.rejected++
    traffic.count('provider_error', 1, 1)
    expect(traffic.lastMinute).toEqual({ requests: 11, rejected: 5, failed: 2 })
    for (let period = 0; period < 11; period++) traffic.sample(5)
    traffic.count(200, 1, 1)
    expect(traffic.lastMinute).toEqual({ requests: 12, rejected: 5, failed: 2 })
    traffic.sample(5)
    expect(traffic.lastMinute).toEqual({ requests: 1, rejected: 0, failed: 0 })
  })

  it('counts a refused connection as a rejected request', () => {
    const traffic = new Traffic()
    traffic.refused.allow++
    traffic.refused.maxConnections++
    expect(traffic.lastMinute).toEqual({ requests: 2, rejected: 2, failed: 0 })
    expect(traffic.takeCounts()?.slice(0, 3)).toEqual([2, 2, 0])
    expect(traffic.takeCounts()).toBeUndefined()
    for (let period = 0; period < 13; period++) traffic.sample(5)
    expect(traffic.lastMinute).toEqual({ requests: 0, rejected: 0, failed: 0 })
  })

  it('returns the requests per second of the last period', () => {
    const traffic = new Traffic()
    for (let n = 0; n < 10; n++) traffic.count(200, 1, 1)
    traffic.sample(5)
    expect(traffic.requestsPerSecond).toBe(2)
    traffic.sample(5)
    expect(traffic.requestsPerSecond).toBe(0)
  })
})

const START = 350_000_000

const counters = (over: Partial<Counters> = {}): Counters => ({
  requests: 0,
  errors: 0,
  bytesIn: 0,
  bytesOut: 0,
  connections: 0,
  ...over,
})

/** Adds one sample per argument, the total number of requests; `undefined` means not open. */
function filled(...requests: (number | undefined)[]) {
  const history = new TrafficHistory()
  for (const [at, count] of requests.entries()) {
    history.add(START + at, count === undefined ? undefined : counters({ requests: count }))
  }
  return {
    history,
    requests: (n = requests.length) => history.read(START + requests.length - 1, n).requests,
  }
}

describe('TrafficHistory', () => {
  it('returns the traffic of each sample, and the connections open at its end', () => {
    const history = new TrafficHistory()
    history.add(
      START,
      counters({ requests: 3, errors: 1, bytesIn: 10, bytesOut: 20, connections: 2 }),
    )
    history.add(
      START + 1,
      counters({ requests: 7, errors: 1, bytesIn: 15, bytesOut: 50, connections: 1 }),
    )
    expect(history.read(START + 1, 3)).toEqual({
      requests: [null, 3, 4],
      errors: [null, 1, 0],
      bytesIn: [null, 10, 5],
      bytesOut: [null, 20, 30],
      connections: [null, 2, 1],
    })
  })

  it('returns 0 without traffic, and nothing before its start', () => {
    expect(filled(0, 0, 0).requests(5)).toEqual([null, null, 0, 0, 0])
    expect(filled(0, 0, 4).requests(5)).toEqual([null, null, 0, 0, 4])
  })

  it('has a gap while the listener was not open', () => {
    expect(filled(2, undefined, undefined, 5).requests()).toEqual([2, null, null, 3])
    expect(filled(undefined, 0, 1).requests()).toEqual([null, 0, 1])
    expect(filled(0, undefined, 0).requests()).toEqual([null, null, 0])
  })

  it('has a gap for a missed sample, and adds its traffic to the next', () => {
    const { history } = filled(1, 2)
    history.add(START + 4, counters({ requests: 9 }))
    expect(history.read(START + 4, 5).requests).toEqual([1, 1, null, null, 7])
  })

  it('replaces an old sample by a gap if its slot was missed', () => {
    const { history } = filled(1, 2, 3)
    history.add(START + SAMPLES + 1, counters({ requests: 4 }))
    expect(history.read(START + SAMPLES + 1).requests).toEqual([
      1,
      ...Array.from({ length: SAMPLES - 2 }, () => null),
      1,
    ])
  })

  it('keeps one hour', () => {
    const { requests } = filled(...Array.from({ length: SAMPLES + 5 }, (_, at) => (at + 1) * 2))
    expect(requests(SAMPLES + 2)).toEqual([null, null, ...Array.from({ length: SAMPLES }, () => 2)])
  })

  it('releases its memory after an hour without traffic, and returns zeros', () => {
    const history = new TrafficHistory()
    history.add(START, counters({ requests: 1 }))
    for (let at = 1; at <= SAMPLES; at++) {
      history.add(START + at, at === 3 ? undefined : counters({ requests: 1 }))
    }
    const seen = history.read(START + SAMPLES).requests
    expect(seen.slice(0, 4)).toEqual([null, null, null, 0])
    expect(seen.slice(3).every((count) => count === 0)).toBe(true)
    history.add(START + SAMPLES + 1, counters({ requests: 6 }))
    expect(history.read(START + SAMPLES + 1, 2).requests).toEqual([0, 5])
  })

  it('counts idle connections as traffic', () => {
    const history = new TrafficHistory()
    history.add(START, counters({ connections: 1 }))
    history.add(START + 1, counters())
    expect(history.read(START + 1, 2).connections).toEqual([1, 0])
  })

  it('starts over when the clock is set back', () => {
    const { history } = filled(5, 6, 7)
    history.add(START - 700, counters({ requests: 8 }))
    expect(history.read(START - 700, 2).requests).toEqual([null, 1])
    history.add(START - 699, counters({ requests: 8 }))
    expect(history.read(START - 699, 3).requests).toEqual([null, 1, 0])
  })

  it('adds traffic to the next sample if one is ended twice', () => {
    const { history } = filled(5)
    history.add(START, counters({ requests: 6 }))
    history.add(START + 1, counters({ requests: 6 }))
    expect(history.read(START + 1, 2).requests).toEqual([5, 1])
  })
})

it('numbers samples equally on every node', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 7)
  expect(sampleEnd(lastSampleAt(now))).toBe(Date.UTC(2026, 0, 1, 12, 0, 5))
  expect(lastSampleAt(now + 5_000)).toBe(lastSampleAt(now) + 1)
})
