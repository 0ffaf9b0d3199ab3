import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { killProcesses, startProcess } from '../../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../../test-support/start.testing.ts'

// In its own process, because the test limits the server's memory.

const HEAP_MIB = 128
const CONNECTIONS = 20
const REQUESTS = 30
const DOCUMENT = 'x'.repeat(1_000_000)

let folder: string
let sockets: Socket[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a server with little memory and 16 documents of 1 MB in the collection `large`. */
async function startServer() {
  const data = join(folder, 'data')
  const socketPath = join(folder, 'gatehouse.sock')
  const server = await startProcess(['--data', data, '--endpoint', `unix://${socketPath}`], {
    nodeFlags: [`--max-old-space-size=${HEAP_MIB}`],
  })
  const token = await makeToken({ data, databaseUrl: undefined })
  const authorization = `Bearer ${token}`
  const call = (method: string, path: string, body?: unknown) =>
    sendRequest(0, method, path, { socketPath, body, headers: { Authorization: authorization } })
  for (let n = 0; n < 16; n++) await call('POST', '/large', { id: `l${n}`, text: DOCUMENT })
  const unsent = async () => {
    const { text } = await call('GET', '/_api/metrics')
    return Number(/^gatehouse_unsent_response_bytes (.+)$/m.exec(text)?.[1])
  }
  return { server, socketPath, authorization, call, unsent }
}

test('a server survives clients that pipeline large pages and do not read them', async () => {
  const { server, socketPath, authorization, call, unsent } = await startServer()
  const page = `GET /large HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`
  sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(socketPath, () => socket.write(page.repeat(REQUESTS)))
    return socket.pause()
  })
  // Responses may use a quarter of the heap limit; above that, pages and data requests get 503. The
  // first pages may still be in preparation.
  await expect
    .poll(() => call('GET', '/large'))
    .toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      json: {
        message: expect.stringMatching(/^Clients have not yet read [0-9]+ MiB of responses\. /),
      },
    })
  expect((await call('GET', '/_api/health')).status).toBe(200)
  expect((await call('GET', '/_api/endpoint')).json).toHaveLength(1)

  for (const socket of sockets) socket.destroy()
  await expect.poll(unsent).toBe(0)
  expect((await call('GET', '/large')).json).toHaveLength(16)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test('clients that do not read their responses are disconnected to make room for others', async () => {
  const { socketPath, call, unsent } = await startServer()
  const request = 'GET /_api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
  sockets = Array.from({ length: 5 * CONNECTIONS }, () => {
    const socket = connect(socketPath, () => socket.write(request.repeat(REQUESTS)))
    return socket.pause().on('error', () => {})
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await expect.poll(unsent).toBeGreaterThan(2 ** 20)
  const connections = async () => (await call('GET', '/_api/listener')).json[0].connections
  await expect.poll(connections).toBeLessThan(sockets.length)
  await expect
    .poll(async () => (await call('GET', '/large')).json, { timeout: 20_000 })
    .toHaveLength(16)
})
