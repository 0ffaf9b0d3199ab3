import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { CHANGES_BYTES, MAX_CHANGES } from '../../contract/endpoints/endpoint-change.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import {
  killProcesses,
  SECRETS,
  startProcess,
  storeFlags,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest as requestAt } from '../../test-support/start.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'

const PATH = '/_api/endpoint-change'

type Node = Pick<EngineNode, 'request'>

async function ended({ request }: Node, path: string) {
  await expect.poll(async () => (await request('GET', path)).json.state).not.toBe('running')
  return (await request('GET', path)).json
}

const databasesOf = async ({ request }: Node): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await request('GET', '/_api/endpoint')).json.map(
      ({ endpoint, databases }: { endpoint: string; databases: string[] }) => [endpoint, databases],
    ),
  )

forEachEngineNode((start) => {
  test('endpoints are added, mapped and removed in one request, which can be undone', async () => {
    const node = await start()
    const { request, address } = node
    const [one, two, three] = (await freePorts(3)).map((port) => `tcp://127.0.0.1:${port}`)
    await request('POST', '/_api/endpoint', { endpoint: one, databases: ['a'] })
    await request('POST', '/_api/endpoint', { endpoint: two, databases: ['a'] })
    const before = await databasesOf(node)

    const changes = [
      { endpoint: address, remove: true },
      { endpoint: one, databases: ['a', 'b'] },
      { endpoint: two, remove: true },
      { endpoint: three, databases: ['_system', 'c'], expect: null },
      { endpoint: address.replace('127.0.0.1', '0.0.0.0'), databases: [] },
    ]
    const posted = await request('POST', PATH, { changes: changes.slice(1) })
    expect(posted.status).toBe(202)
    expect(posted.headers.location).toBe(`${PATH}/${posted.json.id}`)
    expect(posted.json).toMatchObject({ state: 'running', total: 4, removals: 1 })
    const page = await ended(node, String(posted.headers.location))
    expect(page).toMatchObject({ state: 'done', made: 3, failed: 1, left: 0, next: null })
    expect(page.failures).toEqual([
      {
        at: 3,
        endpoint: changes[4]?.endpoint,
        error: true,
        code: 409,
        errorNum: 1200,
        errorMessage: expect.stringContaining(`is used by the endpoint ${address}`),
        field: '/endpoint',
        systemCode: 'EADDRINUSE',
      },
    ])
    expect(await databasesOf(node)).toEqual({
      [address]: [],
      [one as string]: ['a', 'b'],
      [three as string]: ['_system', 'c'],
    })
    const other = Number(three?.split(':').at(-1))
    expect((await request('GET', '/_api/health', undefined, { port: other })).status).toBe(200)

    const log = await request('GET', `/_api/audit?change=${posted.json.id}`)
    expect(log.json.rows.map((row: { action: string }) => row.action).sort()).toEqual(
      ['endpoint.add', 'endpoint.change', 'endpoint.map', 'endpoint.remove'].sort(),
    )
    expect(log.json.rows.every((row: { change: string }) => row.change === posted.json.id)).toBe(
      true,
    )

    const undo = await request('POST', `${PATH}/${posted.json.id}/undo`)
    expect(undo.status).toBe(202)
    expect(await ended(node, String(undo.headers.location))).toMatchObject({ made: 3, failed: 0 })
    expect(await databasesOf(node)).toEqual(before)
    const [latest] = (await request('GET', PATH)).json
    expect(latest).toMatchObject({ id: undo.json.id, undoOf: posted.json.id })

    const last = await request('POST', PATH, {
      changes: [changes[0], { endpoint: one, remove: true }],
    })
    expect(await ended(node, String(last.headers.location))).toMatchObject({
      made: 1,
      failures: [{ endpoint: address, code: 409 }],
    })
    await node.stop()
  })

  test('a bulk change requires the role operator and a body within the limits', async () => {
    const node = await start()
    const { request } = node
    const body = { name: 'looks', role: 'viewer' }
    const { token } = (await request('POST', '/_api/token', body)).json
    const viewer = { headers: { Authorization: `Bearer ${token}` } }
    const change = { endpoint: 'tcp://127.0.0.1:1', remove: true }
    const changes = [change]
    expect((await request('POST', PATH, { changes }, viewer)).status).toBe(403)
    expect((await request('DELETE', `${PATH}/x`, undefined, viewer)).status).toBe(403)
    expect((await request('POST', `${PATH}/x/undo`, undefined, viewer)).status).toBe(403)
    expect((await request('GET', PATH, undefined, viewer)).json).toEqual([])
    expect((await request('GET', `${PATH}/x`)).status).toBe(404)
    expect((await request('DELETE', `${PATH}/x`)).status).toBe(404)
    expect((await request('POST', `${PATH}/x/undo`)).status).toBe(404)

    const rejected = async (list: unknown, message: string) => {
      const { status, json } = await request('POST', PATH, { changes: list })
      expect([status, json.errorMessage]).toEqual([400, expect.stringContaining(message)])
    }
    await rejected([], 'at least one change')
    await rejected(Array(MAX_CHANGES + 1).fill(change), 'at most 10,000 changes')
    await rejected([change, { ...change, databases: [] }], 'changes[1]')
    await rejected([{ ...change, expect: -1 }], 'changes[0]')
    await rejected([{ endpoint: 'x', remove: true }], 'changes[0]')
    await rejected([change, change], 'is listed twice')
    const large = JSON.stringify({ changes }) + ' '.repeat(CHANGES_BYTES)
    expect((await request('POST', PATH, large)).status).toBe(413)
    await node.stop()
  })
})

// Only on SQLite: on PostgreSQL, a new process waits until the claim of the killed one expires.
forEngine('sqlite', (engine) => {
  afterEach(killProcesses)

  test('a killed server continues a bulk change after its next start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bulk-'))
    const location = engine.location()
    const socketPath = join(folder, 'g.sock')
    const flags = [...storeFlags(location), '--endpoint', `unix://${socketPath}`]
    const first = await startProcess(flags, { env: SECRETS })
    const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    const headers = { Authorization: `Bearer ${token}` }
    const node: Node = {
      request: (method, path, body) => requestAt(0, method, path, { socketPath, headers, body }),
    }
    const changes = Array.from({ length: 400 }, (_, n) => ({
      endpoint: `unix://${folder}/${n}.sock`,
      databases: ['a'],
    }))
    const posted = await node.request('POST', PATH, { changes })
    first.signal('SIGKILL')
    await first.exit
    await startProcess(flags, { env: SECRETS })
    const page = await ended(node, String(posted.headers.location))
    expect(page).toMatchObject({ state: 'done', made: 400, failed: 0, left: 0 })
    const stored = await databasesOf(node)
    expect(Object.keys(stored)).toHaveLength(401)
    rmSync(folder, { recursive: true, force: true })
  })
})
