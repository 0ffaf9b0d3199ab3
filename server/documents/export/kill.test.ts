import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken } from '../../test-support/start.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'

const COUNT = 240
/** More in total than the system buffers for a client that does not read. */
const LONG = 'x'.repeat(100_000)

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-export-'))
})
afterEach(async () => {
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

// The engine is not involved in how a connection ends.
forEngine('sqlite', (engine) => {
  test('the client of an export notices that the server was killed', async () => {
    const location = engine.location() as { data: string }
    const store = await engine.open('tool')
    const ids = Array.from({ length: COUNT }, (_, at) => `d${at}`)
    const documents = ids.map((id) => ({ id, body: JSON.stringify({ id, text: LONG }) }))
    await createDocumentRepository(store).insert(
      { database: '_system', collection: 'large' },
      documents,
    )
    await store.close()

    const socketPath = join(folder, 'node.sock')
    const server = await startProcess([
      ...['--data', location.data, '--endpoint', `unix://${socketPath}`],
    ])
    // One caller exports one collection at a time.
    const begin = async (accept: string): Promise<IncomingMessage> => {
      const token = await makeToken({ ...location, databaseUrl: undefined })
      const request = httpRequest({
        socketPath,
        path: '/large',
        agent: false,
        headers: { Authorization: `Bearer ${token}`, Accept: accept },
      })
      request.end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      expect(response.statusCode).toBe(200)
      return response
    }
    const complete = await text(await begin('application/x-ndjson'))
    expect(complete.split('\n')).toHaveLength(COUNT + 1)

    const aborted = [await begin('application/x-ndjson'), await begin('text/csv')]
    server.signal('SIGKILL')
    await server.exit
    for (const response of aborted) await expect(text(response)).rejects.toThrow('aborted')
  })
})
