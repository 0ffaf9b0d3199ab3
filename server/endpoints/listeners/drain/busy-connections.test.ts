import { describe, expect, test } from 'vitest'
import type { ListenerStatus } from '../../../contract/endpoints/listener.ts'
import { sendRequest } from '../../../test-support/start.testing.ts'
import { canListen, freePorts } from '../free-ports.testing.ts'
import { beginWorking, createDrainFixture, tryConnect } from './drain.testing.ts'

const { open, openOne, openWorking, startServer } = createDrainFixture()

describe('busy connections', () => {
  test('of one endpoint are not affected while 50 others are added and removed', async () => {
    const server = await startServer()
    const [busy = 0, ...others] = await freePorts(51)
    await server.add(busy)
    const workers = await open(32, busy)
    const sockets = workers.map(({ socket }) => socket.localPort)
    let done = false
    const work = Promise.all(workers.map((client) => client.keepBusy({ until: () => done })))

    // Ten at a time; each is used once and removed with an open connection that it must drain.
    const each = async (port: number) => {
      await server.add(port)
      const visitor = await openOne(port)
      expect((await visitor.request()).status).toBe(200)
      await server.remove(port)
      expect(await tryConnect(port)).toBe('ECONNREFUSED')
    }
    const queue = [...others]
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let port = queue.pop(); port !== undefined; port = queue.pop()) await each(port)
      }),
    )
    const answers = workers.map(({ answered }) => answered)
    await expect
      .poll(() => workers.every(({ answered }, at) => answered > (answers[at] ?? 0)))
      .toBe(true)
    done = true
    await work
    // No connection was closed or replaced.
    expect(workers.map(({ ending }) => ending)).toEqual(workers.map(() => undefined))
    expect(workers.map(({ socket }) => socket.localPort)).toEqual(sockets)
    for (const count of answers) expect(count).toBeGreaterThan(10)
  })

  test('of a removed endpoint are told to close without a reset, and none is served afterwards', async () => {
    const server = await startServer('--drain', '600')
    const [port = 0] = await freePorts(1)
    await server.add(port)
    const endpoint = `tcp://127.0.0.1:${port}`
    const headers = { Authorization: `Bearer ${server.token}` }
    const listeners = async (): Promise<ListenerStatus[]> =>
      (await sendRequest(server.port, 'GET', '/_api/listener', { headers })).json
    const workers = await open(128, port)
    const work = Promise.all(workers.map((client) => client.keepBusy()))
    await expect.poll(() => Math.min(...workers.map(({ answered }) => answered))).toBeGreaterThan(3)
    const working = await open(128, port)
    // The response to the first request shows that the server has read the second one.
    const twice = `GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n${beginWorking(server.token)}`
    await Promise.all(working.map((client) => client.request(twice)))
    // A request that does not finish, so the drain lasts.
    const slow = await openWorking(port, server.token)

    await server.remove(port)
    expect(await tryConnect(port)).toBe('ECONNREFUSED')
    expect(await canListen(port, '127.0.0.1')).toBe(true)

    // Each connection is closed after the response to the request in progress.
    const invalidName = '"     "}'
    const answers = await Promise.all(working.map((client) => client.request(invalidName)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, close: true })
    const endings = await Promise.all(working.map(({ ended }) => ended))
    expect(new Set(endings)).toEqual(new Set(['told']))
    // A connection that this process leaves without a request for a second is closed in between.
    await work
    for (const { ending } of workers) expect(['told', 'between']).toContain(ending)

    // The drain goes on.
    expect(slow.ending).toBeUndefined()
    const close = `/_api/listener/${encodeURIComponent(endpoint)}/close`
    expect((await sendRequest(server.port, 'POST', close, { headers })).status).toBe(200)
    expect(await slow.ended).toBe('reset')
    await expect.poll(listeners).toHaveLength(1)
  })
})
