import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../storage/open.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../../test-support/server-process.testing.ts'
import {
  endpointPath,
  makeToken,
  sendRequest,
  type TestResponse,
} from '../../test-support/start.testing.ts'
import { createNetworks, type Networks } from './networks.testing.ts'
import { SECRETS } from './node-processes.testing.ts'

// Three nodes on hosts of their own, each with addresses that the others do not have.

const NAMES = ['a', 'b', 'c'] as const
const PORT = 8529

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let networks: Networks
const doors: string[] = []
const processes: ServerProcess[] = []
let token: string

// Nodes start slowly, so all tests share them; the test that stops one comes last.
beforeAll(async () => {
  ;[testDatabase, networks] = await Promise.all([makeDatabase(), createNetworks(NAMES.length)])
  const url = await networks.urlOf(testDatabase.databaseUrl)
  for (const [at, name] of NAMES.entries()) {
    const host = networks.hosts[at] ?? ''
    const first = `tcp://${host}:${PORT}`
    const flags = ['--database-url', url, '--node', name, '--endpoint', first, '--drain', '1']
    processes.push(await startProcess(flags, { env: SECRETS, through: networks.through(at) }))
    doors.push(await networks.forwardTo(host, PORT))
  }
  token = await makeToken({ data: '', databaseUrl: testDatabase.databaseUrl })
})
afterAll(async () => {
  await killProcesses()
  networks?.remove()
  await testDatabase?.remove()
})

const at = (node: number, method: string, path: string, body?: unknown): Promise<TestResponse> =>
  sendRequest(0, method, path, {
    socketPath: doors[node] ?? '',
    body,
    headers: { Authorization: `Bearer ${token}` },
  })

/** Returns the listeners of an endpoint as each node reports them. */
const states = async (endpoint: string): Promise<string[][]> =>
  Promise.all(
    NAMES.map(async (_, node) => {
      const query = `endpoint=${encodeURIComponent(endpoint)}`
      const { json } = await at(node, 'GET', `/_api/listener?${query}`)
      return (json as { node: string; state: string }[])
        .map((each) => `${each.node} ${each.state}`)
        .sort()
    }),
  )
const all = (...expected: string[]) => NAMES.map(() => expected)

test('an address of every machine opens on all; an address of one opens there and is elsewhere on the others', async () => {
  const everywhere = 'tcp://0.0.0.0:8600'
  expect(
    (await at(0, 'POST', '/_api/endpoint', { endpoint: everywhere, databases: [] })).status,
  ).toBe(200)
  await expect
    .poll(() => states(everywhere))
    .toEqual(all('a listening', 'b listening', 'c listening'))
  for (const host of networks.hosts) {
    const socketPath = await networks.forwardTo(host, 8600)
    expect((await sendRequest(0, 'GET', '/_api/health', { socketPath })).status).toBe(200)
  }

  // Requested at a, which cannot open it.
  const ofB = `tcp://${networks.hosts[1]}:8700`
  const body = { endpoint: ofB, databases: ['_system'] }
  expect((await at(0, 'POST', '/_api/endpoint', body)).status).toBe(200)
  expect((await at(0, 'GET', '/_api/endpoint')).json).toContainEqual(body)
  await expect.poll(() => states(ofB)).toEqual(all('a elsewhere', 'b listening', 'c elsewhere'))
  const socketPath = await networks.forwardTo(networks.hosts[1] ?? '', 8700)
  expect((await sendRequest(0, 'GET', '/_api/health', { socketPath })).status).toBe(200)

  expect((await at(2, 'DELETE', endpointPath(ofB))).status).toBe(200)
  await expect.poll(async () => (await states(ofB)).flat()).toEqual([])
})

test('a failed listener of another machine is retried from any node', async () => {
  // Another program holds the port on the second machine.
  const door = await networks.occupy(1, 8800)
  const endpoint = 'tcp://0.0.0.0:8800'
  expect((await at(0, 'POST', '/_api/endpoint', { endpoint, databases: [] })).status).toBe(200)
  await expect.poll(() => states(endpoint)).toEqual(all('a listening', 'b failed', 'c listening'))
  await door()
  const path = `/_api/listener/${encodeURIComponent(endpoint)}/retry`
  expect((await at(0, 'POST', path)).status).toBe(200)
  await expect
    .poll(() => states(endpoint))
    .toEqual(all('a listening', 'b listening', 'c listening'))
})

test('an address of no machine is rejected and leaves nothing behind, even if the receiving node dies', async () => {
  const nobodys = 'tcp://10.86.0.99:8700'
  const store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
  const rows = () =>
    store.db.selectFrom('endpoints').selectAll().where('address', '=', nobodys).execute()
  const refused = await at(0, 'POST', '/_api/endpoint', { endpoint: nobodys, databases: [] })
  expect([refused.status, refused.json.errorMessage]).toEqual([
    400,
    '10.86.0.99 is not an address of this machine. Choose one of its addresses. (EADDRNOTAVAIL)',
  ])
  expect(await rows()).toEqual([])

  const cut = at(0, 'POST', '/_api/endpoint', { endpoint: nobodys, databases: [] }).catch(
    () => 'cut',
  )
  await expect.poll(async () => (await rows()).length, { interval: 1 }).toBe(1)
  // At once, because the node withdraws the address after 2 s.
  processes[0]?.signal('SIGKILL')
  expect((await at(1, 'GET', '/_api/endpoint')).text).not.toContain(nobodys)
  expect(await cut).toBe('cut')
  await expect.poll(rows, { interval: 100 }).toEqual([])
  await store.close()
})
