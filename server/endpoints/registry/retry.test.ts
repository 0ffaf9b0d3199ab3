import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { ListenerStatus } from '../../contract/endpoints/listener.ts'
import { sendRequest, startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import {
  add,
  addressesOf,
  createEndpointFixture,
  DONE,
  dataFrom,
  listenerOf,
  listenersOf,
  remove,
} from './endpoint-fixture.testing.ts'

const fixture = createEndpointFixture()
const { start, occupy, release } = fixture

describe('a port taken while the server was down', () => {
  /** Starts a node with a stored endpoint that it cannot open and one that it can. */
  async function startWithFailed(): Promise<TestNode> {
    const data = join(fixture.folder, 'data')
    const before = await startForTest({ data })
    expect((await add(before, fixture.address)).status).toBe(200)
    await before.stop()
    await occupy({ port: fixture.port, host: '127.0.0.1' })
    return start({ data })
  }

  test('fails its endpoint with a reason, without affecting others', async () => {
    const node = await startWithFailed()
    expect(await addressesOf(node)).toContain(fixture.address)
    const failed = await listenerOf(node, fixture.address)
    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/used by another program.*\(EADDRINUSE\)$/),
      systemCode: 'EADDRINUSE',
      connections: 0,
    })
    const since = Date.parse(failed?.since ?? '')
    expect(Date.parse(failed?.nextTry ?? '')).toBeGreaterThan(since)
    expect(await dataFrom({ port: fixture.port, host: '127.0.0.1' })).toBe('mine')
    // All other endpoints listen.
    const states = (await listenersOf(node)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['failed', 'listening', 'listening'])
  })

  test('is opened automatically when it becomes free', async () => {
    const node = await startWithFailed()
    const first = await listenerOf(node, fixture.address)
    // It keeps retrying, with increasing delays.
    const second = await vi.waitFor(async () => {
      const now = await listenerOf(node, fixture.address)
      expect(now?.since).not.toBe(first?.since)
      expect(now?.state).toBe('failed')
      return now
    }, WAIT)
    expect(first).toMatchObject({ failingSince: first?.since, attempts: 1 })
    expect(second).toMatchObject({ failingSince: first?.since, attempts: 2 })
    const pause = (status: ListenerStatus | undefined) =>
      Date.parse(status?.nextTry ?? '') - Date.parse(status?.since ?? '')
    expect(pause(second)).toBeGreaterThan(pause(first) * 1.4)
    release()
    await expect
      .poll(() => listenerOf(node, fixture.address))
      .toMatchObject({ state: 'listening', error: null, nextTry: null })
    expect(await listenerOf(node, fixture.address)).not.toHaveProperty('failingSince')
    expect((await sendRequest(fixture.port, 'GET', '/_api/health')).status).toBe(200)
  })

  test('is retried immediately on request', async () => {
    const node = await startWithFailed()
    const retry = () =>
      node.request('POST', `/_api/listener/${encodeURIComponent(fixture.address)}/retry`)
    const refused = await retry()
    expect(refused.json).toMatchObject({ code: 409, errorNum: 1200 })
    expect(refused.json.errorMessage).toMatch(/EADDRINUSE/)
    release()
    expect((await retry()).json).toEqual(DONE)
    expect((await sendRequest(fixture.port, 'GET', '/_api/health')).status).toBe(200)
    expect(await listenerOf(node, fixture.address)).toMatchObject({
      state: 'listening',
      nextTry: null,
    })
    // An automatic retry may open the listener first; a manual retry still succeeds.
    expect((await retry()).json).toEqual(DONE)
  })

  test('does not prevent removing its endpoint', async () => {
    const node = await startWithFailed()
    expect((await remove(node, fixture.address)).json).toEqual(DONE)
    expect(await addressesOf(node)).not.toContain(fixture.address)
    expect(await listenerOf(node, fixture.address)).toBe(undefined)
    release()
    // No retry binds the port any more.
    await occupy({ port: fixture.port, host: '127.0.0.1' })
  })
})
