import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../../test-support/start.testing.ts'
import { createDrainFixture, finishWorking, tryConnect } from './drain.testing.ts'

const { open, openWorking, startServer } = createDrainFixture()

describe('a stopping node', () => {
  test('becomes unready first, finishes busy connections, and exits with 0', async () => {
    const server = await startServer('--drain', '600', '--ready-delay', '5')
    const workers = await open(16, server.port)
    const work = Promise.all(
      workers.map((client) => client.keepBusy({ path: '/_api/health/live' })),
    )
    const slow = await openWorking(server.port, server.token)
    await expect.poll(() => Math.min(...workers.map(({ answered }) => answered))).toBeGreaterThan(3)

    server.signal('SIGTERM')
    const status = async (path: string) => (await sendRequest(server.port, 'GET', path)).status
    await expect.poll(() => status('/_api/health')).toBe(503)
    // For a load balancer, the server still accepts connections and is alive but not ready.
    expect(await status('/_api/health/ready')).toBe(503)
    expect(await status('/_api/health/live')).toBe(200)
    expect(await status('/')).toBe(302)
    await expect.poll(() => tryConnect(server.port)).toBe('ECONNREFUSED')
    await work
    expect(workers.filter(({ ending }) => ending === 'reset')).toEqual([])
    expect(await finishWorking(slow, 'slow4')).toMatchObject({ status: 201, close: true })
    // With nothing left to drain, it exits before the drain time ends.
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('disconnects the rest after the drain time, and exits with 0', async () => {
    const server = await startServer('--drain', '1')
    const slow = await openWorking(server.port, server.token)
    server.signal('SIGTERM')
    expect(await slow.ended).toBe('reset')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('disconnects the rest at a second signal', async () => {
    const server = await startServer('--drain', '600')
    const slow = await openWorking(server.port, server.token)
    server.signal('SIGTERM')
    await expect.poll(() => tryConnect(server.port)).toBe('ECONNREFUSED')
    expect(slow.ending).toBe(undefined)
    // The same signal within a second is a repetition of the first.
    server.signal('SIGINT')
    expect(await slow.ended).toBe('reset')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })

  test('skips the rest of the ready delay at a second signal', async () => {
    const server = await startServer('--drain', '600', '--ready-delay', '600')
    server.signal('SIGTERM')
    await expect
      .poll(async () => (await sendRequest(server.port, 'GET', '/_api/health')).status)
      .toBe(503)
    server.signal('SIGINT')
    expect(await server.exit).toEqual({ code: 0, signal: null })
  })
})
