import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { Config } from '../../../cli/config.ts'
import type { ListenerStatus } from '../../../contract/endpoints/listener.ts'
import { endpointPath, startForTest, type TestNode } from '../../../test-support/start.testing.ts'
import { freePorts } from '../free-ports.testing.ts'
import { type KeepAliveClient, Reset } from '../keep-alive-client.testing.ts'
import { createDrainFixture, finishWorking, tryConnect } from './drain.testing.ts'

/** Longer than a test may take: a test that waited for the end of the drain time would fail, ms. */
const LONGER_THAN_TEST = 600_000

const { open, openOne, openWorking, leaveAll } = createDrainFixture()

describe('a removed endpoint', () => {
  let node: TestNode
  let port: number
  let address: string

  async function start(settings: Partial<Config>): Promise<void> {
    ;[port = 0] = await freePorts(1)
    address = `tcp://127.0.0.1:${port}`
    node = await startForTest(settings)
    await add()
  }

  const add = async () =>
    expect(
      (await node.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })).status,
    ).toBe(200)
  const remove = async () =>
    expect((await node.request('DELETE', endpointPath(address))).status).toBe(200)
  const listeners = async (): Promise<ListenerStatus[]> =>
    (await node.request('GET', '/_api/listener')).json.filter(
      ({ endpoint }: ListenerStatus) => endpoint === address,
    )

  afterEach(async () => {
    leaveAll()
    await node.stop()
  })

  test('lets a slow request finish within the grace time', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port, node.token)
    await expect.poll(async () => (await listeners())[0]?.connections).toBe(1)
    const idle = await openOne(port)
    await remove()
    // The idle connection is closed first; the busy one is still open.
    await idle.ended
    expect(await finishWorking(slow, 'slow1')).toMatchObject({ status: 201, close: true })
    expect(await slow.ended).toBe('told')
    await expect.poll(listeners).toEqual([])
  })

  test('disconnects a slow request after the grace time', async () => {
    await start({ drain: 5_000 })
    const slow = await openWorking(port, node.token)
    const silent = await openWorking(port, node.token)
    await remove()
    const [draining] = await listeners()
    expect(draining).toMatchObject({ state: 'draining', connections: 2 })
    const { since, drainUntil } = draining as ListenerStatus
    expect(Date.parse(String(drainUntil)) - Date.parse(since)).toBe(5_000)
    expect(await slow.ended).toBe('reset')
    await expect(finishWorking(silent, 'slow2')).rejects.toThrow(Reset)
    await expect.poll(listeners).toEqual([])
  })

  test('finishes a request whose head is incomplete', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const half = await openOne(port)
    await half.request()
    await half.sendPart('GET /_api/health HTTP/1.1\r\nHo')
    const idle = await openOne(port)
    await remove()
    await idle.ended
    expect(await half.request('st: localhost\r\n\r\n')).toMatchObject({ status: 200, close: true })
    expect(await half.ended).toBe('told')
  })

  test('closes connections once they have had no request for a second', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const [used, unused] = (await open(2, port)) as [KeepAliveClient, KeepAliveClient]
    const requested = performance.now()
    await used.request()
    await expect.poll(async () => (await listeners())[0]?.connections).toBe(2)
    await remove()
    expect(await Promise.all([used.ended, unused.ended])).toEqual(['between', 'between'])
    // Not earlier: a client that just got a response may have sent its next request.
    expect(used.endedAt).toBeGreaterThan(requested + 950)
  })

  test('ends its event streams immediately and properly', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const streams = await Promise.all([1, 2, 3].map(() => openEvents(port, node.token)))
    const other = await openEvents(node.port, node.token)
    await remove()
    await Promise.all(streams.map(({ ended }) => ended))
    // Complete, with the last chunk: the client sees a normal end and reconnects.
    expect(streams.map(({ response }) => response.complete)).toEqual([true, true, true])
    // The streams of other endpoints continue and report the change.
    await expect.poll(() => other.text()).toContain(`"endpoint":"${address}"`)
    expect(other.response.complete).toBe(false)
    other.response.destroy()
    await expect.poll(listeners).toEqual([])
  })

  test('can be added again while it drains, and the old listener can be closed separately', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port, node.token)
    await remove()
    await add()
    const states = async () => (await listeners()).map(({ state }) => state)
    expect(await states()).toEqual(['listening', 'draining'])
    const list = (await node.request('GET', '/_api/endpoint')).json as { endpoint: string }[]
    expect(list.filter(({ endpoint }) => endpoint === address)).toHaveLength(1)

    const fresh = await openOne(port)
    expect(await fresh.request()).toMatchObject({ status: 200, close: false })
    const close = `/_api/listener/${encodeURIComponent(address)}/close`
    expect((await node.request('POST', close)).status).toBe(200)
    expect(await slow.ended).toBe('reset')
    await expect.poll(states).toEqual(['listening'])
    expect(await fresh.request()).toMatchObject({ status: 200, close: false })
    expect((await node.request('POST', close)).json).toMatchObject({ code: 404, errorNum: 1231 })
  })

  test('finishes its requests also if the node is stopped', async () => {
    await start({ drain: LONGER_THAN_TEST })
    const slow = await openWorking(port, node.token)
    await remove()
    const stopped = node.stop()
    await expect.poll(() => tryConnect(node.port)).toBe('ECONNREFUSED')
    expect(await finishWorking(slow, 'slow3')).toMatchObject({ status: 201, close: true })
    await stopped
  })
})

interface Events {
  readonly response: IncomingMessage
  readonly ended: Promise<unknown>
  text(): string
}

/** Opens an event stream and reads its first event. */
async function openEvents(port: number, token: string): Promise<Events> {
  const headers = { Authorization: `Bearer ${token}` }
  const where = { port, host: '127.0.0.1', path: '/_api/events', headers, agent: false }
  const request = httpRequest(where).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  response.on('error', () => {})
  const ended = once(response, 'close')
  await expect.poll(() => text).toContain('event: hello')
  return { response, ended, text: () => text }
}
