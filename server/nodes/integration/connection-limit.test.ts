import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { sendUntilConfirmed } from '../../test-support/not-confirmed.testing.ts'
import { operatorSession } from '../../test-support/operator-session.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../../test-support/start.testing.ts'

// A node whose role allows fewer connections than it needs, beside one without such a limit.

const SECRETS = { operatorKey: 'operator-key-of-tests-alone', secretKey: Buffer.alloc(32, 1) }

const role = `limited_${randomBytes(8).toString('hex')}`
let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let server: pg.Client
let limited: TestNode
let other: TestNode
let port: number
let endpoint: string

beforeAll(async () => {
  testDatabase = await makeDatabase({ empty: true })
  const { pathname } = new URL(testDatabase.databaseUrl)
  server = new pg.Client({ connectionString: inject('postgresUrl') })
  await server.connect()
  await server.query(`create role ${role} login`)
  await server.query(`alter database ${pathname.slice(1)} owner to ${role}`)
  const databaseUrl = new URL(testDatabase.databaseUrl)
  databaseUrl.username = role
  limited = await startForTest({ databaseUrl: databaseUrl.href, node: 'limited', ...SECRETS })
  other = await startForTest({ databaseUrl: testDatabase.databaseUrl, node: 'other', ...SECRETS })
  ;[port = 0] = await freePorts(1)
  endpoint = `tcp://127.0.0.1:${port}`
})
afterAll(async () => {
  await limitConnections(-1)
  await limited.stop()
  await other.stop()
  await testDatabase.remove()
  await server.query(`drop role ${role}`)
  await server.end()
})

beforeEach(async () => {
  // A node that starts to listen assumes missed changes and clears its authentication cache.
  await expect.poll(listens).toBe(true)
  await send(other, 'POST', '/_api/database', { name: 'blog' })
  await soonAt(limited, '/_db/blog/', 200)
  await send(limited, 'POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  await send(limited, 'POST', '/_db/blog/articles', { id: 'one' })
  expect((await send(limited, 'GET', '/articles/one', undefined, { port })).status).toBe(200)
})

/** Sends a request until the node confirms its state. */
const send = (node: TestNode, ...request: Parameters<TestNode['request']>) =>
  sendUntilConfirmed(() => node.request(...request))

const limitConnections = (most: number) =>
  server.query(`alter role ${role} connection limit ${most}`)

/** Returns whether the limited node has its notification connection. */
async function listens(): Promise<boolean> {
  const { rowCount } = await server.query(
    `select from pg_stat_activity where usename = $1 and application_name = 'gatehouse notices'`,
    [role],
  )
  return rowCount === 1
}

/** Closes connections of the limited node: those for notifications, or all. */
const endConnections = (name = 'gatehouse%') =>
  server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where usename = $1 and application_name like $2`,
    [role, name],
  )

const soonAt = (node: TestNode, path: string, status: number, at = node.port) =>
  expect
    .poll(async () => (await node.request('GET', path, undefined, { port: at })).status)
    .toBe(status)

/** Closes the limited node's notification connection for good; its other connections stay. */
async function loseNotices(): Promise<void> {
  await limitConnections(1)
  await endConnections('gatehouse notices')
}

test('a node without notifications follows the changes of another node', async () => {
  await loseNotices()
  await send(other, 'POST', '/_api/endpoint', { endpoint, databases: ['_system'] })
  await soonAt(limited, '/articles/one', 404, port)
  await soonAt(limited, '/_api/health/ready', 200)
  await send(other, 'POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  await soonAt(limited, '/articles/one', 200, port)

  // Acknowledged documents are in the new database, not in the deleted one.
  await send(other, 'DELETE', '/_api/database/blog')
  await send(other, 'POST', '/_api/database', { name: 'blog' })
  const acknowledged: string[] = []
  for (let n = 0; acknowledged.length < 3; n++) {
    const id = `d${String(n).padStart(6, '0')}`
    const { status, text } = await send(limited, 'POST', '/articles', { id }, { port })
    expect([201, 404], text).toContain(status)
    if (status === 201) acknowledged.push(id)
  }
  const { json } = await send(other, 'GET', '/_db/blog/articles')
  expect(json.map(({ id }: { id: string }) => id)).toEqual(acknowledged)
  await limitConnections(-1)
})

test('a node without any database connection rejects data requests with 503', async () => {
  const ready = () => limited.request('GET', '/_api/health/ready')
  const Cookie = await operatorSession(limited)
  const list = () => sendRequest(limited.port, 'GET', '/_api/endpoint', { headers: { Cookie } })
  // The list is served from memory while the session was confirmed a moment ago. A notification of
  // the changes before the test may arrive late and clear the known sessions: then start again.
  for (let attempt = 0; attempt < 10; attempt++) {
    await limitConnections(-1)
    await expect.poll(async () => (await ready()).status).toBe(200)
    expect((await list()).status).toBe(200)
    await limitConnections(0)
    await endConnections()
    await expect.poll(async () => (await ready()).status).toBe(503)
    if ((await list()).status === 200) break
  }
  expect((await list()).status).toBe(200)
  expect((await ready()).json.reason).toBe('This node cannot confirm that its state is current.')
  for (const [method, path] of [
    ['GET', '/_db/blog/articles/one'],
    ['POST', '/_db/blog/articles'],
    ['GET', '/_db/gone/articles'],
    ['GET', '/_api/endpoint'],
    ['GET', '/_api/audit'],
    ['POST', '/_api/database'],
  ] as const) {
    const { status, headers } = await limited.request(
      method,
      path,
      method === 'POST' ? {} : undefined,
    )
    expect([path, status, headers['retry-after']]).toEqual([path, 503, '1'])
  }
  expect((await limited.request('GET', '/_api/health/live')).status).toBe(200)
  await limitConnections(-1)
  await expect.poll(async () => (await ready()).status).toBe(200)
  await soonAt(limited, '/_db/blog/articles/one', 200)
})
