import { describe, expect, it } from 'vitest'
import type { Listener } from './listeners/listener.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { Traffic } from './traffic.ts'

const listener = (n: number, requests = 1): Listener => {
  const traffic = new Traffic()
  for (let at = 0; at < requests; at++) traffic.count(at % 2 === 0 ? 200 : 404, 4 * at, 0)
  const bytes = { in: 5, out: 7 }
  return {
    name: `unix:///a"\\${n}`,
    mapping: { names: [] as readonly string[], defaultDatabase: '_system' },
    state: 'listening',
    connections: n,
    traffic,
    bytes,
  } as Listener
}
const text = async (metrics: Metrics) => Buffer.concat(await metrics.read()).toString()

describe('createMetrics', () => {
  it('prints the listeners in the format of Prometheus', async () => {
    const metrics = createMetrics(
      () => [listener(1, 3), listener(2, 0)],
      () => 42,
    )
    const printed = await text(metrics)
    expect(printed).toContain('gatehouse_unsent_response_bytes 42\n')
    // Skip the process metrics, which prom-client prints.
    expect(printed.slice(printed.indexOf('\n# HELP gatehouse_connections'))).toBe(`
# HELP gatehouse_connections Open connections
# TYPE gatehouse_connections gauge
gatehouse_connections{endpoint="unix:///a\\"\\\\1",state="listening"} 1
gatehouse_connections{endpoint="unix:///a\\"\\\\2",state="listening"} 2

# HELP gatehouse_listener Number of listeners by state
# TYPE gatehouse_listener gauge
gatehouse_listener{endpoint="unix:///a\\"\\\\1",state="listening"} 1
gatehouse_listener{endpoint="unix:///a\\"\\\\2",state="listening"} 1

# HELP gatehouse_requests_total Completed requests
# TYPE gatehouse_requests_total counter
gatehouse_requests_total{endpoint="unix:///a\\"\\\\1",status="200"} 2
gatehouse_requests_total{endpoint="unix:///a\\"\\\\1",status="404"} 1

# HELP gatehouse_refused_connections_total Connections that the policy closed before anything was read
# TYPE gatehouse_refused_connections_total counter

# HELP gatehouse_received_bytes_total Bytes received
# TYPE gatehouse_received_bytes_total counter
gatehouse_received_bytes_total{endpoint="unix:///a\\"\\\\1"} 5
gatehouse_received_bytes_total{endpoint="unix:///a\\"\\\\2"} 5

# HELP gatehouse_sent_bytes_total Bytes sent
# TYPE gatehouse_sent_bytes_total counter
gatehouse_sent_bytes_total{endpoint="unix:///a\\"\\\\1"} 7
gatehouse_sent_bytes_total{endpoint="unix:///a\\"\\\\2"} 7

# HELP gatehouse_request_duration_seconds Seconds from receiving the request headers to writing the response
# TYPE gatehouse_request_duration_seconds histogram
${[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, '+Inf']
  .map((le) => {
    const count = [0.0005, 0.001, 0.0025].includes(Number(le)) ? 1 : le === 0.005 ? 2 : 3
    return `gatehouse_request_duration_seconds_bucket{le="${le}",endpoint="unix:///a\\"\\\\1"} ${count}\n`
  })
  .join('')}gatehouse_request_duration_seconds_sum{endpoint="unix:///a\\"\\\\1"} 0.012
gatehouse_request_duration_seconds_count{endpoint="unix:///a\\"\\\\1"} 3
`)
  })

  it('prints each series of an endpoint once while earlier listeners of it drain', async () => {
    const drained = listener(1, 4)
    const listeners = [
      listener(1, 3),
      { ...listener(1, 2), state: 'draining', inherited: drained.traffic } as Listener,
      { ...listener(1, 1), state: 'draining' } as Listener,
    ]
    const printed = await text(createMetrics(() => listeners))
    const endpoint = 'endpoint="unix:///a\\"\\\\1"'
    expect(
      printed.split('\n').filter((line) => /^gatehouse_.*unix/.test(line) && !/_bucket/.test(line)),
    ).toEqual([
      `gatehouse_connections{${endpoint},state="listening"} 1`,
      `gatehouse_connections{${endpoint},state="draining"} 2`,
      `gatehouse_listener{${endpoint},state="listening"} 1`,
      `gatehouse_listener{${endpoint},state="draining"} 2`,
      `gatehouse_requests_total{${endpoint},status="200"} 6`,
      `gatehouse_requests_total{${endpoint},status="404"} 4`,
      `gatehouse_received_bytes_total{${endpoint}} 15`,
      `gatehouse_sent_bytes_total{${endpoint}} 21`,
      `gatehouse_request_duration_seconds_sum{${endpoint}} 0.04`,
      `gatehouse_request_duration_seconds_count{${endpoint}} 10`,
    ])
    expect(printed).toContain(`_bucket{le="+Inf",${endpoint}} 10\n`)
    expect(printed.split(`le="0.005",${endpoint}}`)).toHaveLength(2)
  })

  it('yields while it prints many listeners', async () => {
    const listeners = Array.from({ length: 1_000 }, (_, n) => listener(n))
    const metrics = createMetrics(() => listeners)
    let turns = 0
    let built = false
    const turn = () => {
      turns++
      if (!built) setImmediate(turn)
    }
    setImmediate(turn)
    const parts = await metrics.read()
    built = true
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(100_000)
    expect(turns).toBeGreaterThan(100)
    const printed = Buffer.concat(parts).toString()
    for (const name of ['connections', 'sent_bytes_total', 'request_duration_seconds_count']) {
      expect(printed.split(`\ngatehouse_${name}{`)).toHaveLength(1_001)
    }
  })

  it('is shared by concurrent requests, for a second', async () => {
    let read = 0
    const metrics = createMetrics(() => {
      read++
      return []
    })
    const [first, second] = await Promise.all([metrics.read(), metrics.read()])
    expect([first === second, (await metrics.read()) === first, read]).toEqual([true, true, 1])
    await expect.poll(async () => (await metrics.read()) === first).toBe(false)
    expect(read).toBe(2)
  })
})
