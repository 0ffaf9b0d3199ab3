import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { createBrowser } from '../oauth2/browser.testing.ts'
import { OUR_PAGE } from '../operator-session.testing.ts'
import { killProcesses } from '../server-process.testing.ts'
import { ask } from '../start.testing.ts'
import { forEngine } from '../storage/each-engine.testing.ts'
import { type NodeProcess, OPERATOR_KEY, startNodes } from './node-processes.testing.ts'

// Several nodes are one Gatehouse: sign in at one, work at another, lose one and go on.

let balancer: Server | undefined

/** A small balancer: each connection goes to the next node. Answers its port. */
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

forEngine('postgres', (engine) => {
  let databaseUrl: string

  beforeEach(() => {
    databaseUrl = (engine.location() as { databaseUrl: string }).databaseUrl
  })
  afterEach(async () => {
    balancer?.close()
    balancer = undefined
    await killProcesses()
  })

  test('a sign-in goes on at whichever node; its session is good at both, and ended at both at once', async () => {
    const [front = 0] = await freePorts(1)
    const origin = `http://127.0.0.1:${front}`
    const [a, b] = (await startNodes(databaseUrl, ['a', 'b'], ['--public-url', origin])) as [
      NodeProcess,
      NodeProcess,
    ]
    await balance(front, [a.port, b.port])

    const browser = createBrowser()
    const page = await browser.post(`${origin}/_oauth2/local/auth`, {})
    await browser.post(page.url, { key: OPERATOR_KEY }, (url) => url.pathname === '/')
    const [key = '', cookie] =
      [...browser.jar].find(([each]) => each.includes(' / gatehouse_')) ?? []
    const headers = { Cookie: `${key.split(' ')[2]}=${cookie?.value}` }
    const who = async (node: NodeProcess) =>
      (await ask(node.port, 'GET', '/_api/session', { headers })).json
    for (const node of [a, b])
      expect(await who(node)).toMatchObject({ person: { username: 'local:operator' } })

    const out = await ask(a.port, 'DELETE', '/_api/session', {
      headers: { ...headers, ...OUR_PAGE },
    })
    expect(out.status).toBe(200)
    expect(await who(b)).toBeNull()
  }, 60_000)

  test('a stream at one node ends at once when its token is revoked at the other', async () => {
    const [a, b] = (await startNodes(databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
    const { json } = await a.ask('POST', '/_api/token', { name: 'watch', role: 'viewer' })
    const stream = await fetch(`http://127.0.0.1:${b.port}/_api/events`, {
      headers: { Authorization: `Bearer ${json.token}` },
    })
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('hello')

    await a.ask('POST', '/_api/database', { name: 'later' })
    let heard = ''
    while (!heard.includes('later')) heard += new TextDecoder().decode((await reader.read()).value)

    await a.ask('DELETE', `/_api/token/${json.info.id}`)
    const told = performance.now()
    while (!(await reader.read()).done);
    // Without being told, it looks only with its next word, every 15 s.
    expect(performance.now() - told).toBeLessThan(2_000)
  }, 60_000)

  test('failed attempts count together, at whichever node', async () => {
    const [a, b] = (await startNodes(databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
    const guess = (node: NodeProcess) =>
      node.ask('GET', '/_api/endpoint', undefined, { headers: { Authorization: 'Bearer no' } })
    for (let at = 0; at < 20; at++) expect((await guess(at % 2 === 0 ? a : b)).status).toBe(401)
    expect((await guess(a)).status).toBe(429)
    expect((await guess(b)).status).toBe(429)
  }, 60_000)

  test('the job of a node that dies is finished by another, once', async () => {
    const COUNT = 20_000
    const [a, b] = (await startNodes(databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
    const documents = Array.from({ length: COUNT }, (_, n) => ({ id: `d${COUNT + n}`, n }))
    const posted = await a.ask('POST', '/articles', documents, {
      headers: { Prefer: 'respond-async' },
    })
    expect(posted.status).toBe(202)
    const job = String(posted.headers.location)
    await expect
      .poll(async () => (await b.ask('GET', job)).json.done, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(0)
    expect((await b.ask('GET', job)).status).toBe(206)
    a.process.signal('SIGKILL')
    await a.process.exit
    await expect
      .poll(async () => (await b.ask('GET', job)).status, { timeout: 60_000, interval: 100 })
      .toBe(200)
    expect((await b.ask('GET', job)).json).toMatchObject({ state: 'done', found: COUNT })
    const store = await engine.open('tool')
    const count = () =>
      store.db
        .selectFrom('documents')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
    expect(Number((await count()).n)).toBe(COUNT)
  }, 120_000)

  test('what a dropped database leaves is deleted, also when the node that did so dies', async () => {
    const COUNT = 10_000
    const [a, b] = (await startNodes(databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
    await a.ask('POST', '/_api/database', { name: 'blog' })
    const documents = Array.from({ length: COUNT }, (_, n) => ({ n }))
    expect((await a.ask('POST', '/_db/blog/articles', documents)).status).toBe(201)
    expect((await b.ask('DELETE', '/_api/database/blog')).status).toBe(200)
    // The first node looks after it, since it has been there first.
    a.process.signal('SIGKILL')
    await a.process.exit
    const store = await engine.open('tool')
    const left = async () =>
      (await store.db.selectFrom('documents').select('id').limit(1).execute()).length
    await expect.poll(left, { timeout: 30_000, interval: 100 }).toBe(0)
  }, 60_000)
})
