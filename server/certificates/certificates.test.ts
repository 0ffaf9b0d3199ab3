import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { ask, connectTls, createTestAuthority, fingerprintOf } from './certificates.testing.ts'

const pathOf = (endpoint: string) => `/_api/policy?endpoint=${endpoint}`

/** Adds certificates and an endpoint that uses them. */
async function addSecure({ request }: EngineNode, tls: object) {
  const [port = 0] = await freePorts(1)
  const endpoint = `ssl://127.0.0.1:${port}`
  const set = (value: object) => request('PUT', pathOf(endpoint), { tls: value })
  // Before the endpoint exists.
  expect((await set(tls)).status).toBe(200)
  const added = await request('POST', '/_api/endpoint', { endpoint, databases: ['_system'] })
  expect(added.json).toMatchObject({ result: true })
  return { port, endpoint, set }
}

/** Returns the fingerprint that an endpoint shows to a client that asks for a name. */
async function shown(port: number, servername?: string): Promise<string> {
  const socket = await connectTls(port, servername === undefined ? {} : { servername })
  const fingerprint = fingerprintOf(socket)
  socket.destroy()
  return fingerprint
}

forEachEngineNode((start) => {
  test('an uploaded certificate is served, chosen by name, and replaced without a pause', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request } = node
    const authority = await createTestAuthority()
    const upload = async (name: string, ...names: string[]) => {
      const made = await request('PUT', `/_api/certificate/${name}`, {
        kind: 'upload',
        ...(await authority.issue(...names)),
      })
      expect(made.json).toMatchObject({ name, kind: 'upload', current: { names } })
      return made.json.current.fingerprint
    }
    const wild = await upload('wild', '*.example.test')
    const exact = await upload('exact', 'a.example.test', 'localhost')
    const { port, endpoint } = await addSecure(node, { certificates: ['wild', 'exact'] })
    expect(await shown(port)).toBe(wild)
    expect(await shown(port, 'b.example.test')).toBe(wild)
    expect(await shown(port, 'a.example.test')).toBe(exact)
    expect(await shown(port, 'unknown.test')).toBe(wild)
    expect(await shown(port, 'x.b.example.test')).toBe(wild)

    const open = await connectTls(port, {
      servername: 'localhost',
      ca: authority.ca,
      rejectUnauthorized: true,
    })
    const renewed = await upload('exact', 'a.example.test', 'localhost')
    expect(renewed).not.toBe(exact)
    expect(await shown(port, 'a.example.test')).toBe(renewed)
    expect(await ask(open, '/_api/health')).toBe(200)
    open.destroy()

    const removal = await request('DELETE', '/_api/certificate/exact')
    expect(removal.status).toBe(409)
    expect(removal.json.errorMessage).toContain(endpoint)
    const listed = await request('GET', '/_api/certificate')
    expect(listed.json).toMatchObject([
      { name: 'exact', endpoints: [endpoint] },
      { name: 'wild', endpoints: [endpoint] },
    ])
  })
})
