import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  startProcess,
  storeFlags,
} from '../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-policies-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

forEachEngine((engine) => {
  afterEach(killProcesses)

  test('a killed node removes an endpoint at its time and ends a trial after its restart', async () => {
    const location = engine.location()
    const socketPath = join(folder, `${engine.name}.sock`)
    const start = () =>
      startProcess([...storeFlags(location), '--endpoint', `unix://${socketPath}`], {
        env: SECRETS,
      })
    let server = await start()
    const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    const headers = { Authorization: `Bearer ${token}` }
    const call = (method: string, path: string, body?: unknown) =>
      sendRequest(0, method, path, { socketPath, body, headers })
    const [closing = 0, tried = 0] = await freePorts(2)
    const at = (port: number) => `tcp://127.0.0.1:${port}`
    const pathOf = (port: number) => `/_api/policy?endpoint=${at(port)}`
    for (const port of [closing, tried]) {
      await call('POST', '/_api/endpoint', { endpoint: at(port), databases: [] })
    }
    await call('PUT', pathOf(tried), { note: 'before' })
    await call('PUT', `${pathOf(tried)}&try=5`, { enabled: false })
    await call('PUT', pathOf(closing), { closesIn: '1s' })
    server.signal('SIGKILL')
    await server.exit
    server = await start()

    const endpoints = async () =>
      (await call('GET', '/_api/endpoint')).json.map(
        ({ endpoint }: { endpoint: string }) => endpoint,
      )
    await expect.poll(endpoints, WAIT).not.toContain(at(closing))
    await expect(sendRequest(closing, 'GET', '/healthz')).rejects.toThrow('ECONNREFUSED')
    const policyOf = async () => (await call('GET', pathOf(tried))).json.policy
    await expect.poll(policyOf, WAIT).toEqual({ note: 'before' })
    const status = async () => {
      const response = await sendRequest(tried, 'GET', '/healthz').catch(() => undefined)
      return response?.status
    }
    await expect.poll(status, WAIT).toBe(200)
    expect(await endpoints()).toContain(at(tried))
  })
})
