import { describe, expect, it } from 'vitest'
import { DURATION_BOUNDS, Traffic } from './traffic.ts'

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

  it('returns the requests per second of the last period', () => {
    const traffic = new Traffic()
    for (let n = 0; n < 10; n++) traffic.count(200, 1, 1)
    traffic.sample(5)
    expect(traffic.requestsPerSecond).toBe(2)
    traffic.sample(5)
    expect(traffic.requestsPerSecond).toBe(0)
  })
})
