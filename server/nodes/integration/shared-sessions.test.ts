import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { HEARTBEATS_PER_CHECK } from '../../events/routes.ts'
import { createBrowser } from '../../oauth2/sign-in/browser.testing.ts'
import { openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { sendUntilConfirmed } from '../../test-support/not-confirmed.testing.ts'
import { CONSOLE_HEADERS } from '../../test-support/operator-session.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { sendRequest } from '../../test-support/start.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { type NodeProcess, OPERATOR_KEY, startNodes } from './node-processes.testing.ts'

// Several nodes act as one Gatehouse: users sign in at one, work at another, and continue when one
// is lost. Nodes start slowly, so all tests share two, and the tests that stop one come last.

let balancer: Server | undefined

/** Starts a round-robin TCP load balancer on `port`. */
async function balance(port: number, ports: readonly number[]): Promise<void> {
  let next = 0
  balancer = createServer((client) => {
    const node = connect(ports[next++ % ports.length] ?? 0, '127.0.0.1')
    client.pipe(node).pipe(client)
    client.on('error', () => node.destroy())
    node.on('error', () => client.destroy())
  }).listen(port, '127.0.0.1')
  await once(balancer, 'listening')
  expect((balancer.address() as AddressInfo).port).toBe(port)
}

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let front: number
let origin: string
let a: NodeProcess
let b: NodeProcess

beforeAll(async () => {
  testDatabase = await makeDatabase()
  ;[front = 0] = await freePorts(1)
  origin = `http://127.0.0.1:${front}`
  const nodes = await startNodes(testDatabase.databaseUrl, ['a', 'b'], ['--public-url', origin])
  ;[a, b] = nodes as [NodeProcess, NodeProcess]
  store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
})
afterAll(async () => {
  balancer?.close()
  await killProcesses()
  await store?.close()
  await testDatabase.remove()
})

test('a sign-in can continue on another node, and its session is valid and ends on both', async () => {
  await balance(front, [a.port, b.port])
  const browser = createBrowser()
  // One connection per request, so every second request goes to the other node.
  const page = await browser.post(`${origin}/_oauth2/local/auth`, {})
  await browser.post(page.url, { key: OPERATOR_KEY }, (url) => url.pathname === '/')
  const [key = '', cookie] = [...browser.jar].find(([each]) => each.includes(' / gatehouse_')) ?? []
  const headers = { Cookie: `${key.split(' ')[2]}=${cookie?.value}` }
  const send = (node: NodeProcess, method: string, headers: Record<string, string>) =>
    sendUntilConfirmed(() => sendRequest(node.port, method, '/_api/session', { headers }))
  const who = async (node: NodeProcess) => (await send(node, 'GET', headers)).json
  for (const node of [a, b])
    expect(await who(node)).toMatchObject({ person: { username: 'local:operator' } })

  const stream = await follow(b, headers)
  const out = await send(a, 'DELETE', { ...headers, ...CONSOLE_HEADERS })
  expect(out.status).toBe(200)
  expect(await who(b)).toBeNull()
  await stream.ended()
})

test('a stream on one node sends events of the other, and ends immediately when its token is revoked there', async () => {
  const { json } = await a.request('POST', '/_api/token', { name: 'watch', role: 'viewer' })
  const stream = await follow(b, { Authorization: `Bearer ${json.token}` })
  await a.request('POST', '/_api/database', { name: 'later' })
  await stream.says('later')
  await a.request('DELETE', `/_api/token/${json.info.id}`)
  await stream.ended()
  await a.request('DELETE', '/_api/database/later')
})

test('a provider that one node adds, changes or removes is the same on the other', async () => {
  const authEndpoint = 'https://login.example/authorize'
  const settings = {
    ...{ kind: 'oauth2', label: 'Corp', clientId: 'gatehouse', callback: 'exact' },
    ...{ authEndpoint, tokenEndpoint: 'https://login.example/token' },
    activeUserEndpoint: 'https://login.example/user',
  }
  const labels = async (node: NodeProcess) => {
    const { json } = await node.request('GET', '/_api/provider')
    return (json as { label: string }[]).map(({ label }) => label)
  }
  const headers = { 'If-Match': '*' }
  const before = await labels(b)
  const input = { name: 'corp', ...settings, clientSecret: 'secret-of-corp' }
  expect((await a.request('POST', '/_api/provider', input)).status).toBe(201)
  await vi.waitFor(async () => expect(await labels(b)).toContain('Corp'), WAIT)
  const begun = await sendRequest(b.port, 'POST', '/_oauth2/corp/auth', {
    headers: { ...CONSOLE_HEADERS, Origin: origin },
  })
  expect([begun.status, begun.headers.location?.split('?')[0]]).toEqual([303, authEndpoint])

  const changed = { ...settings, label: 'Company' }
  expect((await b.request('PUT', '/_api/provider/corp', changed, { headers })).status).toBe(200)
  await vi.waitFor(async () => expect(await labels(a)).toContain('Company'), WAIT)
  expect((await a.request('DELETE', '/_api/provider/corp', undefined, { headers })).status).toBe(
    200,
  )
  await vi.waitFor(async () => expect(await labels(b)).toEqual(before), WAIT)
})

describe('when a node dies', () => {
  /** Number of documents of the first job. */
  const COUNT = 5_000
  const LEFT = 3_000
  let job: string
  let count = COUNT
  let worker: string
  const readJob = () =>
    store.db
      .selectFrom('jobs')
      .select(['claimed_by', 'done', 'state'])
      .where('id', '=', job.split('/').at(-1) ?? '')
      .executeTakeFirstOrThrow()

  /** Returns the number of connections of the nodes that run a statement or are in a transaction. */
  const busyConnections = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and application_name = 'gatehouse' and state <> 'idle'
      and pid <> pg_backend_pid()`.execute(store.db)
    return rows[0]?.count
  }

  beforeAll(async () => {
    await a.request('POST', '/_api/database', { name: 'blog' })
    const some = Array.from({ length: LEFT }, (_, n) => ({ n }))
    expect((await a.request('POST', '/_db/blog/articles', some)).status).toBe(201)

    for (;;) {
      // Suspended until the other node has started the job, so that the other claims it.
      b.process.signal('SIGSTOP')
      const documents = Array.from({ length: count }, (_, n) => ({ id: `d${count + n}`, n }))
      const posted = await a.request('POST', `/articles${count}`, documents, {
        headers: { Prefer: 'respond-async' },
      })
      expect(posted.status).toBe(202)
      job = String(posted.headers.location)
      await vi.waitUntil(async () => (await readJob()).done > 0, { ...WAIT, interval: 2 })
      a.process.signal('SIGSTOP')
      // The commit of the job may have been sent already. Otherwise PostgreSQL ends the transaction
      // once it has been idle for 5 s.
      await vi.waitUntil(async () => (await busyConnections()) === 0, WAIT)
      b.process.signal('SIGCONT')
      const { state, claimed_by } = await readJob()
      worker = claimed_by
      if (state === 'running') break
      // The job has ended before the node was suspended: start a larger one.
      a.process.signal('SIGCONT')
      count *= 2
    }
    expect((await b.request('GET', job)).status).toBe(206)
    // The first node purges the deleted documents: it started first, so it holds the lock.
    expect((await b.request('DELETE', '/_api/database/blog')).status).toBe(200)
    await a.end('SIGKILL')
  })

  test('another node finishes its job once', async () => {
    await expect.poll(async () => (await b.request('GET', job)).status, { interval: 100 }).toBe(200)
    expect((await b.request('GET', job)).json).toMatchObject({ state: 'done', found: count })
    expect((await readJob()).claimed_by).not.toBe(worker)
    const { n } = await store.db
      .selectFrom('documents')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('database', '=', '_system')
      .where('collection', '=', `articles${count}`)
      .executeTakeFirstOrThrow()
    expect(Number(n)).toBe(count)
  })

  test('another node deletes the data of its dropped database', async () => {
    const countRows = async () =>
      (
        await store.db
          .selectFrom('documents')
          .select('id')
          .where('database', '!=', '_system')
          .limit(1)
          .execute()
      ).length
    await expect.poll(countRows, { interval: 100 }).toBe(0)
  })
})

test('failed attempts are counted across nodes', async () => {
  await a.start()
  const guess = (node: NodeProcess) =>
    node.request('GET', '/_api/endpoint', undefined, { headers: { Authorization: 'Bearer no' } })
  for (let at = 0; at < 20; at++) expect((await guess(a)).status).toBe(401)
  expect((await guess(a)).status).toBe(429)
  // Failures are stored once a second. A node on its own would allow 20.
  let guesses = 0
  const elsewhere = async () => {
    guesses++
    return (await guess(b)).status
  }
  await expect.poll(elsewhere, { interval: 1_500 }).toBe(429)
  expect(guesses).toBeLessThan(20)
})

/** Subscribes to the live events of a node. */
async function follow(node: NodeProcess, headers: Record<string, string>) {
  const stream = await fetch(`http://127.0.0.1:${node.port}/_api/events`, { headers })
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  const read = async () => new TextDecoder().decode((await reader.read()).value)
  expect(await read()).toContain('hello')
  return {
    async says(word: string) {
      for (let heard = ''; !heard.includes(word); ) heard += await read()
    },
    /** Expects the stream to end before it authenticates its reader again. */
    async ended() {
      let heard = ''
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        heard += new TextDecoder().decode(part.value)
      }
      expect(heard.split('event: heartbeat').length - 1).toBeLessThan(HEARTBEATS_PER_CHECK)
    },
  }
}
