import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { ask, connectTls, createTestAuthority } from './certificates.testing.ts'

type Authority = Awaited<ReturnType<typeof createTestAuthority>>

/** Adds an endpoint that knows client certificates of an authority. */
async function addEndpoint({ request }: EngineNode, { ca }: Authority) {
  await request('PUT', '/_api/certificate/web', { kind: 'local', names: ['localhost'] })
  const [port = 0] = await freePorts(1)
  const endpoint = `ssl://127.0.0.1:${port}`
  const set = (clientAuth: object, headers = {}) =>
    request(
      'PUT',
      `/_api/policy?endpoint=${endpoint}`,
      { tls: { certificates: ['web'], clientAuth: { ca, mode: 'require', ...clientAuth } } },
      { headers },
    )
  expect((await set({})).status).toBe(200)
  const added = await request('POST', '/_api/endpoint', { endpoint, databases: ['_system'] })
  expect(added.status).toBe(200)
  return { port, endpoint, set }
}

/** Connects with a client certificate. */
const connectAs = (port: number, { certificate, key }: { certificate: string; key: string }) =>
  connectTls(port, { cert: certificate, key })

forEachEngineNode((start) => {
  test('a client certificate is required, and stands for the token of its name', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request, token } = node
    const [clients, others] = [await createTestAuthority(), await createTestAuthority()]
    const { port, endpoint, set } = await addEndpoint(node, clients)
    const status = async (
      by: { certificate: string; key: string } | undefined,
      path = '/_api/database',
      headers = '',
    ) => {
      const socket = by === undefined ? await connectTls(port) : await connectAs(port, by)
      const found = await ask(socket, path, headers)
      socket.destroy()
      return found
    }
    const backup = await clients.issueClient({ type: 'dns', value: 'Backup.example' })
    const forged = await others.issueClient({ type: 'dns', value: 'backup.example' })
    expect(await status(undefined, '/_api/health')).toBe(0)
    expect(await status(forged, '/_api/health')).toBe(0)
    expect(await status(backup, '/_api/health')).toBe(200)
    expect(await status(backup)).toBe(401)

    const made = await request('POST', '/_api/token', { name: 'backup', role: 'viewer' })
    const { id } = made.json.info
    const tokens = [{ san: 'backup.example', token: id }]
    expect((await set({ tokens })).status).toBe(200)
    expect(await status(backup)).toBe(200)
    expect(await status(backup, '/_api/policy')).toBe(403)
    // Neither another name nor one that contains the name in its text stands for the token.
    for (const value of ['other.example', 'x, DNS:backup.example, DNS:y', 'backup.example"']) {
      expect(await status(await clients.issueClient({ type: 'dns', value }))).toBe(401)
    }
    const mail = await clients.issueClient({ type: 'email', value: 'backup.example' })
    expect(await status(mail)).toBe(401)
    // An explicit credential comes first.
    expect(await status(backup, '/_api/policy', `Authorization: Bearer ${token}\r\n`)).toBe(200)
    expect(await status(backup, '/_api/database', 'Authorization: Bearer x\r\n')).toBe(401)

    // With `request`, clients without a certificate and with a wrong one are anonymous.
    expect((await set({ mode: 'request', tokens })).status).toBe(200)
    expect(await status(undefined, '/_api/health')).toBe(200)
    expect(await status(forged)).toBe(401)
    expect(await status(backup)).toBe(200)

    // Another authority, or the end of the token, applies to open connections too.
    const open = await connectAs(port, backup)
    expect(await ask(open, '/_api/database')).toBe(200)
    await set({ ca: others.ca, mode: 'request', tokens })
    expect(await ask(open, '/_api/database')).toBe(401)
    await set({ mode: 'request', tokens })
    expect(await ask(open, '/_api/database')).toBe(200)
    await request('DELETE', `/_api/token/${id}`)
    expect(await ask(open, '/_api/database')).toBe(401)
    open.destroy()
    // Kept by a policy that is stored again; a new one must name an existing token.
    expect((await set({ mode: 'request', tokens })).status).toBe(200)
    const unknown = await set({ mode: 'require', tokens })
    expect(unknown.json).toMatchObject({ code: 400, field: '/tls/clientAuth/tokens/0/token' })
    expect(endpoint).toContain(String(port))
  })
})

forEachEngineNode(
  (start) => {
    test('an operator cannot let a certificate stand for a token with more access', async () => {
      const node = await start()
      onTestFinished(node.stop)
      const { request } = node
      const { set } = await addEndpoint(node, await createTestAuthority())
      const create = async (role: string) =>
        (await request('POST', '/_api/token', { name: role, role })).json
      const [operator, admin, viewer] = [
        await create('operator'),
        await create('admin'),
        await create('viewer'),
      ]
      const as = { Authorization: `Bearer ${operator.token}` }
      const tokensOf = ({ info }: { info: { id: string } }) => ({
        tokens: [{ san: 'me.example', token: info.id }],
      })
      expect(await set(tokensOf(admin), as)).toMatchObject({ status: 403 })
      expect(await set(tokensOf(viewer), as)).toMatchObject({ status: 200 })
      expect(await set(tokensOf(admin))).toMatchObject({ status: 200 })
      // Nor issue certificates for such a token by an authority of its own.
      const own = await createTestAuthority()
      expect(await set({ ...tokensOf(admin), ca: own.ca }, as)).toMatchObject({ status: 403 })
    })

    test('a resumed session is checked like a full handshake after a change', async () => {
      const node = await start()
      onTestFinished(node.stop)
      const clients = await createTestAuthority()
      const { port, set } = await addEndpoint(node, clients)
      const { certificate: cert, key } = await clients.issueClient({
        type: 'dns',
        value: 'a.example',
      })
      const sessionOf = async (options: Parameters<typeof connectTls>[1]) => {
        const socket = await connectTls(port, options)
        const status = await ask(socket, '/_api/health')
        const isReused = socket.isSessionReused()
        socket.destroy()
        return { session: socket.sessions.at(-1), isReused, status }
      }
      const maxVersion = 'TLSv1.3'
      const first = await sessionOf({ cert, key, maxVersion })
      const resumed = await sessionOf({ session: first.session, maxVersion })
      expect(resumed).toMatchObject({ isReused: true, status: 200 })
      // The authority is no longer accepted.
      const others = await createTestAuthority()
      expect((await set({ ca: others.ca })).status).toBe(200)
      const socket = await connectTls(port, { session: resumed.session, maxVersion })
      expect(socket.isSessionReused()).toBe(false)
      expect(await ask(socket, '/_api/health')).toBe(0)
    })
  },
  ['sqlite'],
)
