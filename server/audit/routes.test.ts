import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Principal } from '../contract/access/principal.ts'
import type { AuditPage } from '../contract/audit.ts'
import {
  endpointPath,
  sendRequest,
  startForTest,
  type TestNode,
} from '../test-support/start.testing.ts'
import type { AuditLog } from './audit-log.ts'
import { auditRoutes } from './routes.ts'

// Tests the log of a running node through the HTTP API.

let node: TestNode

beforeAll(async () => {
  node = await startForTest()
})
afterAll(() => node.stop())

/** Returns the rows about endpoints and databases, oldest first. */
async function log(query = ''): Promise<AuditPage['rows']> {
  const response = await node.request('GET', `/_api/audit?${query}`)
  expect(response.status).toBe(200)
  const { rows } = response.json as AuditPage
  return rows.filter(({ action }) => /^(endpoint|database)\./.test(action)).reverse()
}

test('the endpoint of the first start is recorded with the start as its actor', async () => {
  expect(await log()).toMatchObject([
    { actor: 'start', by: 'system', address: null, action: 'endpoint.add', target: node.address },
  ])
})

test('changes and rejected changes are recorded, requests without effect are not', async () => {
  const [first] = await log()
  await node.request('POST', '/_api/database', { name: 'blog' })
  await node.request('POST', '/_api/database', { name: 'blog' })
  await node.request('DELETE', '/_api/database/_system')
  await node.request('DELETE', '/_api/database/blog')
  const { address } = node
  await node.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })
  await node.request('POST', '/_api/endpoint', { endpoint: address, databases: ['_system', 'a'] })
  await node.request('POST', '/_api/endpoint', {
    endpoint: address.toUpperCase(),
    databases: ['a'],
  })
  await node.request('DELETE', endpointPath(address))
  await node.request('GET', '/_api/endpoint')

  const rows = await log()
  expect(rows[0]).toEqual(first)
  expect(rows.slice(1)).toMatchObject([
    { action: 'database.create', target: 'blog', outcome: 'done', before: null, after: {} },
    {
      action: 'database.create',
      target: 'blog',
      outcome: 'refused',
      before: null,
      after: { refused: 'database-exists' },
    },
    {
      action: 'database.drop',
      target: '_system',
      outcome: 'refused',
      after: { refused: 'forbidden' },
    },
    { action: 'database.drop', target: 'blog', outcome: 'done', before: {}, after: null },
    {
      action: 'endpoint.map',
      target: address,
      outcome: 'done',
      before: { databases: [] },
      after: { databases: ['_system', 'a'] },
    },
    {
      action: 'endpoint.add',
      target: address,
      outcome: 'refused',
      after: { refused: 'conflict' },
    },
    {
      action: 'endpoint.remove',
      target: address,
      outcome: 'refused',
      after: { refused: 'conflict' },
    },
  ])
  const who = {
    actor: 'local:operator',
    actorName: null,
    by: 'token',
    token: 'tests',
    address: '127.0.0.1',
  }
  for (const row of rows.slice(1)) expect(row).toMatchObject(who)
})

test('viewers can read the log, and their rejected changes are recorded', async () => {
  const made = await node.request('POST', '/_api/token', { name: 'v', role: 'viewer' })
  const headers = { Authorization: `Bearer ${made.json.token}` }
  const refused = await node.request('POST', '/_api/database', { name: 'x' }, { headers })
  expect(refused.status).toBe(403)
  await node.request('DELETE', '/_api/database/x', undefined, { headers })
  const response = await node.request('GET', '/_api/audit?what=database', undefined, { headers })
  expect(response.json.rows.slice(0, 2)).toMatchObject([
    { action: 'database.drop', target: 'x', outcome: 'refused', after: { refused: 'forbidden' } },
    // The server does not read the body of an unauthorized request.
    { action: 'database.create', target: '', outcome: 'refused', after: { refused: 'forbidden' } },
  ])
})

test('anonymous rejections are counted, not recorded', async () => {
  const counted = async () =>
    Number(
      /^gatehouse_anonymous_refusals_total (\d+)/m.exec(
        (await node.request('GET', '/_api/metrics')).text,
      )?.[1],
    )
  const [rows, count] = [await log(), await counted()]
  expect(
    (await sendRequest(node.port, 'POST', '/_api/database', { body: { name: 'x' } })).status,
  ).toBe(401)
  expect(await log()).toEqual(rows)
  // The server caches its metrics for a second.
  await expect.poll(counted).toBe(count + 1)
})

test('the log is filtered and paged', async () => {
  await node.request('POST', '/_api/database', { name: 'one' })
  await node.request('POST', '/_api/database', { name: 'two' })
  const newest = await node.request('GET', '/_api/audit?what=database.create&limit=1')
  expect(newest.json).toMatchObject({ rows: [{ target: 'two' }], next: expect.any(Number) })
  const { next } = newest.json as AuditPage
  const older = await node.request('GET', `/_api/audit?what=database.create&limit=1&before=${next}`)
  expect(older.json.rows).toMatchObject([{ target: 'one' }])
  expect(await log('who=START')).toHaveLength(1)
  expect(await log('to=2020-01-01')).toEqual([])
})

test('an invalid parameter is named', async () => {
  const response = await node.request('GET', '/_api/audit?limit=501')
  expect(response.json).toEqual({
    error: true,
    code: 400,
    errorNum: 10,
    errorMessage: 'The query is invalid. limit: a whole number from 1 to 500.',
    field: 'limit',
    errors: [{ field: 'limit', reason: 'a whole number from 1 to 500' }],
  })
})

test('a page reserves memory of its response', async () => {
  const reserved: unknown[] = []
  const log: AuditLog = {
    async page(_, reserve) {
      await reserve(7)
      return { rows: [], next: null }
    },
    recordRejection: async () => {},
  }
  const routes = auditRoutes(
    log,
    () => (c, next) => {
      c.set('principal', { databases: null } as Principal)
      return next()
    },
    async (c, bytes) => void reserved.push([c.req.path, bytes]),
  )
  expect((await routes.request('/')).status).toBe(200)
  expect(reserved).toEqual([['/', 7]])
})
