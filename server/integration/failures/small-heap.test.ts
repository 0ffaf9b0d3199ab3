import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../test-support/start.testing.ts'

// Tests a server process with a small heap that receives more than the heap can hold.

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-small-heap-'))
})
afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a heap of 200 MB survives arrays of 49 MB, one and many concurrently', async () => {
  const data = join(folder, 'data')
  const socketPath = join(folder, 'server.sock')
  const flags = ['--data', data, '--endpoint', `unix://${socketPath}`]
  const server = await startProcess(flags, { nodeFlags: ['--max-old-space-size=200'] })
  const headers = { Authorization: `Bearer ${await makeToken({ data, databaseUrl: undefined })}` }
  const call = (method: string, path: string, body?: unknown) =>
    sendRequest(0, method, path, { socketPath, body, headers })

  const documents = Array.from({ length: 5_000 }, () => ({ text: 'x'.repeat(9_800) }))
  const array = JSON.stringify(documents)
  expect(array.length).toBeGreaterThan(49_000_000)
  // On a machine with much load, the body may take longer than the server permits (408).
  let one = await call('POST', '/one', array)
  while (one.status === 408) one = await call('POST', '/one', array)
  expect(one.status).toBe(202)
  const job = String(one.headers.location)
  await expect.poll(async () => (await call('GET', job)).status).toBe(200)
  expect((await call('GET', job)).json).toMatchObject({ state: 'done', found: documents.length })

  const sendThree = () =>
    Promise.all(
      Array.from({ length: 3 }, (_, n) =>
        // The server may close the connection of a rejected array while the client still sends.
        call('POST', `/many${n}`, array).then(
          ({ status }) => status,
          (error: NodeJS.ErrnoException) => error.code,
        ),
      ),
    )
  let at = await sendThree()
  while (at.includes(408)) at = await sendThree()
  expect(at.filter((status) => ![202, 503, 'EPIPE', 'ECONNRESET'].includes(status ?? 0))).toEqual(
    [],
  )
  expect(at).toContain(202)
  expect((await call('GET', '/_api/health/live')).status).toBe(200)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
}, 600_000)
