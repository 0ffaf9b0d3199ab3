import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../concurrency/turns.ts'
import { CHANGES_BYTES, MAX_CHANGES } from '../../contract/endpoints/endpoint.ts'
import { countTurns } from '../../test-support/count-turns.testing.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { validateChanges } from './routes.ts'

const PATH = '/_api/endpoint-change'

type Node = Pick<EngineNode, 'request'>

const databasesOf = async ({ request }: Node): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await request('GET', '/_api/endpoint')).json.map(
      ({ endpoint, databases }: { endpoint: string; databases: string[] }) => [endpoint, databases],
    ),
  )

forEachEngineNode(
  (start) => {
    test('endpoints are added, mapped and removed in one request, which can be undone', async () => {
      const node = await start()
      const { request, address } = node
      const [one, two, three] = (await freePorts(3)).map((port) => `tcp://127.0.0.1:${port}`)
      await request('POST', '/_api/endpoint', { endpoint: one, databases: ['a'] })
      await request('POST', '/_api/endpoint', { endpoint: two, databases: ['a'] })
      const before = await databasesOf(node)

      const changes = [
        { endpoint: one, databases: ['a', 'b'] },
        { endpoint: two, remove: true },
        { endpoint: three, databases: ['_system', 'c'], expect: null },
        { endpoint: address.replace('127.0.0.1', '0.0.0.0'), databases: [] },
      ]
      const posted = await request('POST', PATH, { changes })
      expect([posted.status, posted.headers['content-type']]).toEqual([
        200,
        'application/json; charset=utf-8',
      ])
      expect(posted.json).toEqual([
        { at: 0, endpoint: one, state: 'made' },
        { at: 1, endpoint: two, state: 'made' },
        { at: 2, endpoint: three, state: 'made' },
        {
          at: 3,
          endpoint: changes[3]?.endpoint,
          state: 'failed',
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

      const id = String(posted.headers['gatehouse-change'])
      const log = await request('GET', `/_api/audit?change=${id}`)
      expect(log.json.rows.map((row: { action: string }) => row.action).sort()).toEqual(
        ['endpoint.add', 'endpoint.change', 'endpoint.map', 'endpoint.remove'].sort(),
      )
      expect(log.json.rows.every((row: { change: string }) => row.change === id)).toBe(true)

      const accept = { headers: { Accept: 'application/x-ndjson' } }
      const undo = await request('POST', `${PATH}/${id}/undo`, undefined, accept)
      expect([undo.status, undo.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
      const lines = undo.text.split('\n')
      expect(lines.pop()).toBe('')
      expect(lines.map((line) => JSON.parse(line).state)).toEqual(['made', 'made', 'made'])
      expect(await databasesOf(node)).toEqual(before)

      const last = await request('POST', PATH, {
        changes: [
          { endpoint: address, remove: true },
          { endpoint: one, remove: true },
        ],
      })
      expect(last.json).toMatchObject([
        { at: 1, state: 'made' },
        { at: 0, endpoint: address, code: 409 },
      ])
      await node.stop()
    })

    test('a client that disconnects stops the changes', async () => {
      const node = await start()
      const { address, port, token } = node
      const changes = (await freePorts(400)).map((free) => ({
        endpoint: `tcp://127.0.0.1:${free}`,
        databases: ['a'],
      }))
      const headers = { Authorization: `Bearer ${token}`, Accept: 'application/x-ndjson' }
      const sent = httpRequest({ port, method: 'POST', path: PATH, headers })
      sent.on('error', () => {})
      sent.end(JSON.stringify({ changes }))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.on('error', () => {})
      await once(response, 'data')
      response.destroy()
      // The node accepts another bulk change once it has stopped.
      const removal = { changes: [{ endpoint: 'tcp://127.0.0.1:1', remove: true }] }
      const status = async () => (await node.request('POST', PATH, removal)).status
      await expect.poll(status).toBe(200)
      const { [address]: own, ...made } = await databasesOf(node)
      expect(own).toEqual([])
      expect(Object.keys(made).length).toBeLessThan(changes.length)
      const id = String(response.headers['gatehouse-change'])
      const undo = await node.request('POST', `${PATH}/${id}/undo`)
      expect(undo.json).toHaveLength(Object.keys(made).length)
      expect(await databasesOf(node)).toEqual({ [address]: [] })
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
      expect((await request('POST', `${PATH}/x/undo`, undefined, viewer)).status).toBe(403)
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
      await rejected([{ endpoint: change.endpoint, databases: ['#'] }], 'changes[0]')
      await rejected([change, { ...change, endpoint: 'TCP://127.0.0.1:1' }], 'is listed twice')
      const large = JSON.stringify({ changes }) + ' '.repeat(CHANGES_BYTES)
      expect((await request('POST', PATH, large)).status).toBe(413)
      await node.stop()
    })
  },
  ['sqlite'],
)

test('the changes of a request are validated in slices', async () => {
  // Each change takes a whole slice.
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += TIME_SLICE
    return now
  })
  const changes = Array.from({ length: 20 }, (_, n) => ({
    endpoint: `tcp://127.0.0.1:${1_000 + n}`,
    databases: ['a', 'b'],
  }))
  const turns = await countTurns(() => validateChanges(changes))
  clock.mockRestore()
  expect(turns).toBeGreaterThanOrEqual(changes.length)
})
