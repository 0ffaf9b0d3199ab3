import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { openStore } from '../../storage/open.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { endpointPath, type TestResponse } from '../../test-support/start.testing.ts'
import { DEAD_AFTER } from '../repository.ts'
import { type NodeProcess, startNode, startNodes, statesAt } from './node-processes.testing.ts'

// Two nodes in processes of their own, on one PostgreSQL and one machine. They start slowly, so all
// tests share them, and the tests that stop one come last.

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let a: NodeProcess
let b: NodeProcess

beforeAll(async () => {
  testDatabase = await makeDatabase()
  ;[a, b] = (await startNodes(testDatabase.databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
})
afterAll(async () => {
  await killProcesses()
  await testDatabase.remove()
})

test('a change on one node applies on the other', async () => {
  const expectSoon = (look: () => Promise<unknown>, expected: unknown) =>
    expect.poll(look).toEqual(expected)
  const served = (path: string): Promise<TestResponse> => b.request('GET', path)
  expect((await a.request('POST', '/_api/database', { name: 'blog' })).status).toBe(201)
  await expectSoon(async () => (await served('/_db/blog/')).status, 200)

  const document = { id: 'one', title: 'One' }
  await a.request('POST', '/_db/blog/articles', document)
  expect((await served('/_db/blog/articles/one')).json).toEqual(document)

  const map = (databases: string[]) =>
    a.request('POST', '/_api/endpoint', { endpoint: b.address, databases })
  expect((await map(['blog', '_system'])).status).toBe(200)
  await expectSoon(
    async () => (await served('/')).text,
    '{"service":"gatehouse","database":"blog"}',
  )
  await map([])
  await expectSoon(async () => (await served('/')).status, 302)

  const [port = 0] = await freePorts(1)
  const address = `tcp://127.0.0.1:${port}`
  await a.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })
  const listed = async () => (await served('/_api/endpoint')).text.includes(address)
  await expectSoon(listed, true)
  await expectSoon(() => statesAt(b, address), ['b elsewhere', 'a listening'])
  expect(
    (await b.request('POST', `/_api/listener/${encodeURIComponent(address)}/retry`)).json,
  ).toMatchObject({
    code: 409,
    errorMessage: `${address} has not failed; it belongs to another node.`,
  })
  await a.request('DELETE', endpointPath(address))
  await expectSoon(listed, false)
  await a.request('DELETE', '/_api/database/blog')
  await expectSoon(async () => (await served('/_db/blog/')).status, 404)
})

test('a node checks conditions against the changes of another', async () => {
  const { json } = await a.request(
    'GET',
    `/_api/listener?endpoint=${encodeURIComponent(a.address)}`,
  )
  const match = { headers: { 'If-Match': `"${json[0].revision}"` } }
  const change = (name: string) => ({ endpoint: a.address, databases: ['_system', name] })
  const responses = await Promise.all([
    a.request('POST', '/_api/endpoint', change('one'), match),
    b.request('POST', '/_api/endpoint', change('two'), match),
  ])
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 412])
  const winner = responses[0]?.status === 200 ? 'one' : 'two'
  for (const node of [a, b]) {
    await expect
      .poll(async () => (await node.request('GET', '/_api/endpoint')).json)
      .toContainEqual(change(winner))
  }
})

test('concurrent adds of one address on two nodes create one endpoint on one of them', async () => {
  for (const port of await freePorts(8)) {
    const endpoint = `tcp://127.0.0.1:${port}`
    const add = (node: NodeProcess) =>
      node.request('POST', '/_api/endpoint', { endpoint, databases: ['_system', node.name] })
    const responses = await Promise.all([add(a), add(b)])
    expect(responses.map(({ status, text }) => [status, text])).toEqual([
      [200, expect.any(String)],
      [200, expect.any(String)],
    ])
    const lists = async () =>
      Promise.all([a, b].map(async (node) => (await node.request('GET', '/_api/endpoint')).text))
    await expect.poll(async () => new Set(await lists()).size).toBe(1)
    const states = async () => (await statesAt(a, endpoint)).map((each) => each.slice(2)).sort()
    await expect.poll(states).toEqual(['elsewhere', 'listening'])
    // Remove the endpoint on one node while the other remaps it: both must agree in either order.
    const both = await Promise.all([add(a), b.request('DELETE', endpointPath(endpoint))])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    await expect.poll(async () => new Set(await lists()).size).toBe(1)
    await a.request('DELETE', endpointPath(endpoint))
  }
})

test('a document written on one node during a drop on another is deleted', async () => {
  const store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
  try {
    for (let time = 0; time < 5; time++) {
      await a.request('POST', '/_api/database', { name: 'brief' })
      await expect.poll(async () => (await b.request('GET', '/_db/brief/')).status).toBe(200)
      const writes = Array.from({ length: 20 }, (_, n) =>
        b.request('POST', '/_db/brief/things', { n }),
      )
      const dropped = a.request('DELETE', '/_api/database/brief')
      const responses = await Promise.all(writes)
      expect((await dropped).status).toBe(200)
      // On an overloaded machine the database may be unavailable for a moment (503).
      for (const { status, text } of responses) expect([201, 404, 503], text).toContain(status)
      // A new database with the same name is empty.
      await a.request('POST', '/_api/database', { name: 'brief' })
      await expect.poll(async () => (await b.request('GET', '/_db/brief/things')).text).toBe('[]')
      await a.request('DELETE', '/_api/database/brief')
    }
    const countRows = async () =>
      (
        await store.db
          .selectFrom('documents')
          .select('id')
          .where('database', '!=', '_system')
          .execute()
      ).length
    await expect.poll(countRows).toBe(0)
  } finally {
    await store.close()
  }
})

test('an address that no node can open is rejected, and leaves nothing behind', async () => {
  const address = 'tcp://192.0.2.1:8600'
  const refused = await a.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })
  expect([refused.status, refused.json.errorMessage]).toEqual([
    400,
    '192.0.2.1 is not an address of this machine. Choose one of its addresses. (EADDRNOTAVAIL)',
  ])
  for (const node of [a, b]) {
    expect((await node.request('GET', '/_api/endpoint')).text).not.toContain(address)
  }
  const store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
  const rows = store.db.selectFrom('endpoints').select('address').where('address', '=', address)
  expect(await rows.execute()).toEqual([])

  // A proposal whose node stopped before withdrawing it is deleted too.
  const proposal = JSON.stringify({
    id: 'lost',
    node: 'c',
    actor: { name: 'c', by: 'system', address: null },
  })
  const lost = { address, databases: '[]', revision: 1, proposal, proposed_at: 0 }
  await store.db.insertInto('endpoints').values(lost).execute()
  await expect.poll(() => rows.execute()).toEqual([])
  await store.close()
})

test('concurrent removals of the last two endpoints that reach _system: one is rejected', async () => {
  const responses = await Promise.all([
    a.request('DELETE', endpointPath(a.address)),
    b.request('DELETE', endpointPath(b.address)),
  ])
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(responses.find(({ status }) => status === 409)?.json.errorNum).toBe(1200)
  const [left, lost] = responses[0]?.status === 200 ? [b, a] : [a, b]
  // The node learns of the other's change a moment later.
  await expect
    .poll(async () => (await left.request('GET', '/_api/endpoint')).json)
    .toMatchObject([{ endpoint: left.address }])
  await lost.end('SIGTERM')
  await lost.start()
})

test('the name of a live node is rejected, and free immediately after a kill', async () => {
  const [port = 0, changed] = await freePorts(2)
  let isRejected = false
  const rejected = startNode(testDatabase.databaseUrl, 'b', port).catch((error: Error) => {
    isRejected = true
    return error.message
  })
  // While it waits for its name, it learns of changes.
  const endpoint = `tcp://127.0.0.1:${changed}`
  while (!isRejected) {
    await a.request('POST', '/_api/endpoint', { endpoint, databases: [] })
    await a.request('DELETE', endpointPath(endpoint))
  }
  const printed = await rejected
  expect(printed).toContain(
    'Another node with the name b uses this database. Give each node a unique name with --node.',
  )
  expect(printed).not.toMatch(/"listening"|could not be opened/)
  await b.end('SIGKILL')
  await b.start()
})

test('another node takes over a port when its node stops or dies', async () => {
  const [port] = await freePorts(1)
  const address = `tcp://127.0.0.1:${port}`
  await a.request('POST', '/_api/endpoint', { endpoint: address, databases: [] })
  await expect.poll(() => statesAt(b, address)).toEqual(['b elsewhere', 'a listening'])
  const first = a.address
  await a.end('SIGTERM')
  await expect.poll(() => statesAt(b, address)).toEqual(['b listening'])
  await expect.poll(() => statesAt(b, first)).toEqual(['b listening'])

  // The other node now has its first endpoint, which is not an error.
  await a.start()
  await expect.poll(() => statesAt(a, address)).toEqual(['a elsewhere', 'b listening'])
  await expect.poll(a.process.printed).toContain('runs on another node')
  expect(a.process.printed()).not.toContain('could not be opened')

  const nodesOf = async () => (await a.request('GET', '/_api/node')).json
  const [own, peer] = [
    { name: 'a', own: true, state: 'alive' },
    { name: 'b', own: false, state: 'alive' },
  ]
  await expect.poll(nodesOf).toMatchObject([own, peer])
  const alive = Date.now()
  await b.end('SIGKILL')
  await expect.poll(() => statesAt(a, address)).toEqual(['a listening', 'b silent'])
  await expect.poll(nodesOf).toMatchObject([own, { ...peer, state: 'silent' }])
  const { json } = await a.request('GET', `/_api/listener?endpoint=${encodeURIComponent(address)}`)
  // The time of its last heartbeat, not of its detection as unreachable.
  const silentSince = Date.parse(json[1].silentSince)
  expect(silentSince).toBeGreaterThan(alive - DEAD_AFTER)
  expect(silentSince).toBeLessThanOrEqual(Date.now() - DEAD_AFTER)
})
