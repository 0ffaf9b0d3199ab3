import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { killProcesses } from '../server-process.testing.ts'
import { type Answer, endpointPath } from '../start.testing.ts'
import { forEngine } from '../storage/each-engine.testing.ts'
import { type NodeProcess, startNode, startNodes } from './node-processes.testing.ts'

// Nodes as processes of their own, on one PostgreSQL and on one machine.

/** How soon a change at one node is to be served by the others, ms. */
const SOON = { timeout: 1_000, interval: 5 }
const PATIENTLY = { timeout: 20_000, interval: 50 }

const statesOf = async (node: NodeProcess, address: string): Promise<string[]> => {
  const { json } = await node.ask('GET', `/_api/listener?endpoint=${encodeURIComponent(address)}`)
  return (json as { node: string; state: string }[]).map((each) => `${each.node} ${each.state}`)
}

forEngine('postgres', (engine) => {
  let databaseUrl: string
  let a: NodeProcess
  let b: NodeProcess

  beforeEach(async () => {
    databaseUrl = (engine.location() as { databaseUrl: string }).databaseUrl
    ;[a, b] = (await startNodes(databaseUrl, ['a', 'b'])) as [NodeProcess, NodeProcess]
  }, 30_000)
  afterEach(killProcesses)

  test('what is changed at one node is served so by the other within a second', async () => {
    const served = async (path: string): Promise<Answer> => b.ask('GET', path)
    expect((await a.ask('POST', '/_api/database', { name: 'blog' })).status).toBe(201)
    await expect.poll(async () => (await served('/_db/blog/')).status, SOON).toBe(200)

    const document = { id: 'one', title: 'One' }
    await a.ask('POST', '/_db/blog/articles', document)
    expect((await served('/_db/blog/articles/one')).json).toEqual(document)

    const mapping = { endpoint: b.address, databases: ['blog', '_system'] }
    expect((await a.ask('POST', '/_api/endpoint', mapping)).status).toBe(200)
    await expect
      .poll(async () => (await served('/')).text, SOON)
      .toBe('{"service":"gatehouse","database":"blog"}')

    const [port = 0] = await freePorts(1)
    const address = `tcp://127.0.0.1:${port}`
    await a.ask('POST', '/_api/endpoint', { endpoint: address })
    const listed = async () => (await served('/_db/_system/_api/endpoint')).text
    await expect.poll(listed, SOON).toContain(address)
    await expect
      .poll(() => statesOf({ ...b, ask: (m, p) => b.ask(m, `/_db/_system${p}`) }, address), SOON)
      .toEqual(['b elsewhere', 'a listening'])

    await a.ask('DELETE', endpointPath(address))
    await expect.poll(listed, SOON).not.toContain(address)
    await a.ask('DELETE', '/_api/database/blog')
    await expect.poll(async () => (await served('/_db/blog/')).status, SOON).toBe(404)
  })

  test('a port goes over to another node when the one that has it ends, and when it dies', async () => {
    const ports = await freePorts(2)
    const address = `tcp://127.0.0.1:${ports[0]}`
    await a.ask('POST', '/_api/endpoint', { endpoint: address })
    await expect.poll(() => statesOf(b, address), SOON).toEqual(['b elsewhere', 'a listening'])
    a.process.signal('SIGTERM')
    await a.process.exit
    await expect.poll(() => statesOf(b, address), PATIENTLY).toEqual(['b listening'])

    // Its first endpoint is with the other node now, too.
    const port = ports[1] ?? 0
    const again = {
      ...a,
      port,
      ask: ((m, p, x, o) => a.ask(m, p, x, { port, ...o })) as typeof a.ask,
    }
    await startNode(databaseUrl, 'a', port)
    await expect
      .poll(() => statesOf(again, address), PATIENTLY)
      .toEqual(['a elsewhere', 'b listening'])
    b.process.signal('SIGKILL')
    await b.process.exit
    await expect.poll(() => statesOf(again, address), PATIENTLY).toEqual(['a listening'])
  }, 60_000)

  test('refuses a name that a living node has, and gives it again at once after a kill', async () => {
    const [port = 0] = await freePorts(1)
    await expect(startNode(databaseUrl, 'b', port)).rejects.toThrow(
      'Another node of this store is named b. Give each its own name, with --node.',
    )
    b.process.signal('SIGKILL')
    await b.process.exit
    await startNode(databaseUrl, 'b', port)
  }, 30_000)

  test('of two nodes that remove the last two ways to _system at once, one is refused', async () => {
    const answers = await Promise.all([
      a.ask('DELETE', endpointPath(a.address)),
      b.ask('DELETE', endpointPath(b.address)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.json.errorNum).toBe(1200)
    const left = answers[0]?.status === 200 ? b : a
    expect((await left.ask('GET', '/_api/endpoint')).json).toEqual([
      { endpoint: left.address, databases: [] },
    ])
  })

  test('what one node has changed, the other judges by what is stored', async () => {
    const { json } = await a.ask('GET', `/_api/listener?endpoint=${encodeURIComponent(a.address)}`)
    const match = { headers: { 'If-Match': `"${json[0].revision}"` } }
    const change = (name: string) => ({ endpoint: a.address, databases: ['_system', name] })
    const answers = await Promise.all([
      a.ask('POST', '/_api/endpoint', change('one'), match),
      b.ask('POST', '/_api/endpoint', change('two'), match),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const winner = answers[0]?.status === 200 ? 'one' : 'two'
    for (const node of [a, b]) {
      await expect
        .poll(async () => (await node.ask('GET', '/_api/endpoint')).json, SOON)
        .toContainEqual(change(winner))
    }
  })

  test('an address that no node can open is refused, and leaves nothing behind', async () => {
    const address = 'tcp://192.0.2.1:8600'
    const refused = await a.ask('POST', '/_api/endpoint', { endpoint: address })
    expect([refused.status, refused.json.errorMessage]).toEqual([
      400,
      '192.0.2.1 is no address of this machine. Choose one from the list. (EADDRNOTAVAIL)',
    ])
    for (const node of [a, b]) {
      expect((await node.ask('GET', '/_api/endpoint')).text).not.toContain(address)
    }
    const store = await engine.open('tool')
    expect(
      await store.db
        .selectFrom('endpoints')
        .select('address')
        .where('address', '=', address)
        .execute(),
    ).toEqual([])
  })
})
