import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createRecorder, START } from '../audit/record.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { forEachEngine, makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { startForTest, type TestNode } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'
import { ask, connectTls, createTestAuthority, fingerprintOf } from './certificates.testing.ts'
import { type Certificates, createCertificates } from './certificates.ts'

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

  test('the local authority issues certificates that its root verifies', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request } = node
    expect((await request('GET', '/_api/certificate-root')).status).toBe(404)
    const wrong = await request('POST', '/_api/certificate', {
      name: 'mine',
      kind: 'local',
      names: ['localhost', 'a b', 'x\u0000y'],
    })
    expect(wrong.json).toMatchObject({
      code: 422,
      errors: [{ field: '/names/1' }, { field: '/names/2' }],
    })
    const names = ['localhost', '127.0.0.1', '*.example.test']
    const made = await request('POST', '/_api/certificate', {
      name: 'default',
      kind: 'local',
      names,
    })
    expect(made.status).toBe(201)
    const { current, renewal } = made.json
    expect(current.names).toEqual(names)
    const lifetime = Date.parse(current.notAfter) - Date.parse(current.notBefore)
    expect(lifetime).toBeLessThan(397 * 86_400_000)
    expect(Date.parse(renewal)).toBe(Date.parse(current.notBefore) + (lifetime * 2) / 3)
    const again = { name: 'default', kind: 'local', names }
    expect((await request('POST', '/_api/certificate', again)).status).toBe(409)

    // The certificate with this name needs no policy.
    const [port = 0] = await freePorts(1)
    const endpoint = `ssl://127.0.0.1:${port}`
    await request('POST', '/_api/endpoint', { endpoint, databases: [] })
    const ca = (await request('GET', '/_api/certificate-root')).text
    const trusting = { ca, rejectUnauthorized: true, servername: 'b.example.test' }
    const socket = await connectTls(port, trusting)
    expect(await ask(socket, '/_api/health')).toBe(200)
    socket.destroy()
    expect((await request('DELETE', '/_api/certificate/default')).json).toMatchObject({ code: 409 })
  })

  test('changes need the revision, and are audited without keys', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request } = node
    const authority = await createTestAuthority()
    const pair = await authority.issue('localhost')
    const body = { kind: 'upload', ...pair }
    const path = '/_api/certificate/web'
    const created = await request('PUT', path, body, { headers: { 'If-None-Match': '*' } })
    expect(created.status).toBe(200)
    const again = await request('PUT', path, body, { headers: { 'If-None-Match': '*' } })
    expect(again.status).toBe(412)
    const stale = { headers: { 'If-Match': '"1"' } }
    expect((await request('PUT', path, body, stale)).status).toBe(412)
    expect((await request('DELETE', path, undefined, stale)).status).toBe(412)
    const mixed = await request('PUT', path, {
      ...body,
      key: (await authority.issue('a.test')).key,
    })
    expect(mixed.json).toMatchObject({
      code: 422,
      errors: [{ field: '/key', reason: 'does not belong to the certificate' }],
    })
    const misspelled = await request('PUT', path, { kind: 'upload', certficate: 'x' })
    expect(misspelled.json).toMatchObject({ code: 400, field: '/certficate' })
    expect(misspelled.json.errorMessage).toContain('the nearest is certificate')
    const large = await request('PUT', path, { ...body, certificate: 'x'.repeat(1024 * 1024) })
    expect(large.json).toMatchObject({ code: 400, field: '/certificate' })
    const match = { headers: { 'If-Match': String(created.headers.etag) } }
    expect((await request('DELETE', path, undefined, match)).status).toBe(200)
    expect((await request('GET', path)).status).toBe(404)

    const { fingerprint, notAfter } = created.json.current
    const audit = (await request('GET', '/_api/audit?target=web')).text
    expect(audit).not.toContain('PRIVATE KEY')
    const rows = JSON.parse(audit).rows.filter(
      ({ target, outcome }: Record<string, string>) => target === 'web' && outcome === 'done',
    )
    const summary = { kind: 'upload', names: ['localhost'], fingerprint, notAfter }
    expect(rows).toMatchObject([
      { action: 'certificate.remove', before: summary, after: null },
      { action: 'certificate.add', before: null, after: summary },
    ])
  })

  test('a policy names existing certificates of an ssl endpoint', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request } = node
    const [port = 0] = await freePorts(1)
    const endpoint = `ssl://127.0.0.1:${port}`
    const set = (tls: unknown, address = endpoint) =>
      request('PUT', pathOf(address), tls === undefined ? {} : { tls })
    const named = { certificates: ['web'] }
    expect((await set(named)).json).toMatchObject({
      code: 409,
      field: '/tls/certificates/0',
      errorMessage: 'There is no certificate "web". Add it first.',
    })
    const plain = await set(named, `tcp://127.0.0.1:${port}`)
    expect(plain.json).toMatchObject({ code: 400, field: '/tls' })
    const nearest = await set({ certificates: ['web'], minVersoin: '1.3' })
    expect(nearest.json.errorMessage).toContain('the nearest is minVersion')
    const clientAuth = { ca: 'x', mode: 'require' }
    expect((await set({ ...named, clientAuth })).json).toMatchObject({
      code: 400,
      field: '/tls/clientAuth/ca',
    })
    const add = () => request('POST', '/_api/endpoint', { endpoint, databases: [] })
    expect((await add()).json.errorMessage).toMatch(/^An ssl endpoint requires a certificate\. /)

    await request('PUT', '/_api/certificate/web', { kind: 'local', names: ['localhost'] })
    // The bulk change stores the policy before it opens the endpoint.
    const bulk = await request('POST', '/_api/endpoint-change', {
      changes: [{ endpoint, databases: [], policy: { tls: { ...named, minVersion: '1.3' } } }],
    })
    expect(bulk.status).toBe(200)
    const socket = await connectTls(port)
    expect(socket.getProtocol()).toBe('TLSv1.3')
    socket.destroy()
    await expect(connectTls(port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/version/)
    // It would be left without a certificate.
    expect((await set(undefined)).json).toMatchObject({ code: 409, field: '/tls' })
    const removed = await request('DELETE', pathOf(endpoint))
    expect(removed.json).toMatchObject({ code: 409, field: '/tls' })
    const metrics = await request('GET', '/_api/metrics')
    expect(metrics.text).toMatch(
      /gatehouse_certificate_not_after_seconds\{certificate="web"\} 1\d{9}/,
    )
  })

  test('files are read again when they change, and broken ones are reported', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request, data } = node
    const files = { certificate: join(data, 'web.crt'), key: join(data, 'web.key') }
    const authority = await createTestAuthority()
    const write = async () => {
      const { certificate, key } = await authority.issue('localhost')
      writeFileSync(files.certificate, certificate)
      writeFileSync(files.key, key)
    }
    const set = () => request('PUT', '/_api/certificate/web', { kind: 'file', ...files })
    const missing = await set()
    expect(missing.json).toMatchObject({ code: 422, field: '/certificate', systemCode: 'ENOENT' })
    const folder = await request('PUT', '/_api/certificate/web', {
      kind: 'file',
      certificate: data,
      key: files.key,
    })
    expect(folder.json.errorMessage).toBe(`${data} is not a file.`)
    await write()
    expect((await set()).json).toMatchObject({ files })
    const { port } = await addSecure(node, { certificates: ['web'] })
    const first = await shown(port)
    writeFileSync(files.key, 'broken')
    const record = async () => (await request('GET', '/_api/certificate/web')).json
    await expect
      .poll(async () => (await record()).error, WAIT)
      .toMatchObject({
        message: expect.any(String),
      })
    expect(await shown(port)).toBe(first)
    await write()
    await expect.poll(async () => (await record()).error, WAIT).toBe(undefined)
    expect(await shown(port)).not.toBe(first)
  })

  test('certificates are replaced under busy connections without an error', async () => {
    const node = await start()
    onTestFinished(node.stop)
    const { request } = node
    const renew = () =>
      request('PUT', '/_api/certificate/web', { kind: 'local', names: ['localhost'] })
    await renew()
    const { port } = await addSecure(node, { certificates: ['web'] })
    let isDone = false
    const clients = Array.from({ length: 16 }, async () => {
      const seen = new Set<string>()
      const open = await connectTls(port)
      while (!isDone) {
        const socket = await connectTls(port)
        seen.add(fingerprintOf(socket))
        expect(await ask(socket, '/_api/health')).toBe(200)
        expect(await ask(open, '/_api/health')).toBe(200)
        socket.destroy()
      }
      open.destroy()
      return seen.size
    })
    for (let n = 0; n < 5; n++) expect((await renew()).status).toBe(200)
    isDone = true
    expect(Math.max(...(await Promise.all(clients)))).toBeGreaterThan(1)
  })
})

test('another node serves a certificate that was replaced at this one', async () => {
  const { databaseUrl, remove } = await makeDatabase()
  onTestFinished(remove)
  const secrets = { operatorKey: 'operator-key-of-tests-alone', secretKey: Buffer.alloc(32, 1) }
  const nodes: TestNode[] = []
  for (const node of ['a', 'b']) {
    const started = await startForTest({ databaseUrl, node, ...secrets })
    onTestFinished(started.stop)
    nodes.push(started)
  }
  const [a, b] = nodes as [EngineNode, EngineNode]
  const local = (node: TestNode) =>
    node.request('PUT', '/_api/certificate/web', { kind: 'local', names: ['localhost'] })
  const before = (await local(b)).json.current.fingerprint
  const { port } = await addSecure(a, { certificates: ['web'] })
  expect(await shown(port)).toBe(before)
  const after = (await local(b)).json.current.fingerprint
  await expect.poll(() => shown(port), WAIT).toBe(after)
  // Both issue by the same authority.
  const roots = await Promise.all(
    nodes.map((each) => each.request('GET', '/_api/certificate-root')),
  )
  expect(new Set(roots.map(({ text }) => text)).size).toBe(1)
})

forEachEngine((engine) => {
  test('nodes renew a certificate of the local authority once, after two thirds of its lifetime', async () => {
    const store = await engine.open()
    let now = Date.now()
    const open = async (role: 'node' | 'tool') => {
      const certificates = await createCertificates({
        store: role === 'node' ? store : await engine.open('tool'),
        vault: createVault(new Uint8Array(32)),
        record: createRecorder(),
        publish: () => {},
        configured: undefined,
        instance: 'tests',
        now: () => now,
        log: pino({ level: 'silent' }),
        onError: (error) => expect.unreachable(String(error)),
      })
      onTestFinished(() => certificates[Symbol.dispose]())
      return certificates
    }
    const nodes = [await open('node'), await open('tool')]
    const [a] = nodes as [Certificates, Certificates]
    const names = ['localhost']
    await a.set({ name: 'web', actor: START }, { kind: 'local', names })
    const before = await a.get('web')
    const renew = async () => {
      await Promise.all(nodes.map((node) => node.sync()))
      await Promise.all(nodes.map((node) => node.renewDue()))
      return a.get('web')
    }
    now = Date.parse(before.renewal ?? '') - 1
    expect(await renew()).toEqual(before)
    now += 1
    const after = await renew()
    expect(after.current?.fingerprint).not.toBe(before.current?.fingerprint)
    const audit = await store.db.selectFrom('audit').select(['actor', 'action']).execute()
    expect(audit).toEqual([
      { actor: 'start', action: 'certificate.add' },
      { actor: 'certificates', action: 'certificate.replace' },
    ])
  })
})
