import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CertificateRecord } from '../../contract/certificate.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
} from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../test-support/start.testing.ts'
import { type Pebble, startPebble } from './pebble.testing.ts'

/** The busy connections during a renewal. */
const BUSY = 64

const NAMES = ['web.example', 'www.example']

let pebble: Pebble
let data: string
let token: string
let port: number
let secure: number
let server: Promise<ServerProcess>

beforeEach(async () => {
  pebble = await startPebble()
  data = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  ;[port = 0, secure = 0] = await freePorts(2)
})
afterEach(async () => {
  await killProcesses()
  await pebble.stop()
  rmSync(data, { recursive: true })
})

function startNode(flags: readonly string[] = ['--data', data], env = {}) {
  server = startProcess([...flags, '--endpoint', `tcp://127.0.0.1:${port}`], {
    env: { ...pebble.env, ...env },
  })
  return server
}

async function kill(node: Promise<ServerProcess>): Promise<void> {
  const { signal, exit } = await node
  signal('SIGKILL')
  await exit
}

async function send(method: string, path: string, body?: unknown, from = port) {
  const headers = { Authorization: `Bearer ${token}` }
  const response = await sendRequest(from, method, path, { body, headers })
  expect(response.status, response.text).toBeLessThan(300)
  return response
}

const record = async (from = port): Promise<CertificateRecord> =>
  (await send('GET', '/_api/certificate/web', undefined, from)).json

const whenValid = (from = port) =>
  expect
    .poll(() => record(from).then(({ order }) => order, String), { interval: 100 })
    .toEqual({ state: 'valid' })

/** Adds an ssl endpoint with the certificate. */
async function addEndpoint(at: number): Promise<void> {
  const endpoint = `ssl://127.0.0.1:${at}`
  const policy = { tls: { certificates: ['web'] } }
  await send('PUT', `/_api/policy?endpoint=${encodeURIComponent(endpoint)}`, policy)
  await send('POST', '/_api/endpoint', { endpoint, databases: [] })
}

/** Returns the certificate that a client gets that trusts Pebble alone. */
async function connectTo(servername: string, at = secure): Promise<PeerCertificate> {
  const socket = connect({ port: at, host: '127.0.0.1', servername, ca: await pebble.root() })
  await once(socket, 'secureConnect')
  const peer = socket.getPeerCertificate()
  socket.destroy()
  return peer
}

describe('a certificate of the kind acme', () => {
  test('is ordered by http-01, served by SNI, and renewed under busy connections', async () => {
    await startNode()
    token = await makeToken({ data, databaseUrl: undefined })
    const added = await send('POST', '/_api/certificate', {
      name: 'web',
      kind: 'acme',
      names: NAMES,
    })
    expect(added.json).toMatchObject({ current: null, order: { state: 'pending' }, names: NAMES })
    await addEndpoint(secure)
    await whenValid()
    const issued = await record()
    expect(issued.current?.names).toEqual(NAMES)
    expect(Date.parse(issued.renewal ?? '')).toBeGreaterThan(Date.now())
    const before = await connectTo('www.example')

    const ca = await pebble.root()
    let stop = false
    let answered = 0
    const client = async (at: number) => {
      while (!stop) {
        const request = httpsRequest({
          ...{ port: secure, host: '127.0.0.1', servername: NAMES[at % 2], ca },
          path: '/_api/health',
        })
        request.end()
        const [response] = await once(request, 'response')
        expect(response.statusCode).toBe(200)
        response.resume()
        await once(response, 'end')
        answered++
      }
    }
    const clients = Promise.all(Array.from({ length: BUSY }, (_, at) => client(at)))
    await send('PUT', '/_api/certificate/web', { kind: 'acme', names: NAMES })
    expect((await record()).current?.serial).toBe(issued.current?.serial)
    await whenValid()
    const seen = answered
    await expect.poll(() => answered).toBeGreaterThan(seen + BUSY)
    stop = true
    await clients
    expect((await record()).current?.serial).not.toBe(issued.current?.serial)
    expect((await connectTo('web.example')).serialNumber).not.toBe(before.serialNumber)
  })

  test('is ordered by tls-alpn-01 on its own endpoint', async () => {
    await startNode()
    token = await makeToken({ data, databaseUrl: undefined })
    const body = { name: 'web', kind: 'acme', names: NAMES, challenge: 'tls-alpn-01' }
    await send('POST', '/_api/certificate', body)
    await addEndpoint(pebble.tlsPort)
    await send('PUT', '/_api/certificate/web', { ...body, name: undefined })
    await whenValid()
    expect((await connectTo('web.example', pebble.tlsPort)).subject.CN).toBeDefined()
  })

  test('is issued although the node is killed at each step of the order', async () => {
    await startNode()
    token = await makeToken({ data, databaseUrl: undefined })
    const steps = ['/sign-me-up', '/order-plz', '/authZ/', '/chalZ/', '/finalize-order/', '/certZ/']
    const killedAt: string[] = []
    let isKilling = false
    pebble.onResponse = async (path) => {
      const step = steps.find((each) => path.startsWith(each))
      if (step === undefined || isKilling || killedAt.includes(step)) return
      isKilling = true
      await kill(server)
      killedAt.push(step)
      isKilling = false
      // The next node may send requests before it is ready.
      await startNode()
    }
    await send('POST', '/_api/certificate', { name: 'web', kind: 'acme', names: NAMES })
    // A node that is killed at the authorizations may have begun both challenges already.
    const others = steps.filter((step) => step !== '/chalZ/')
    await expect.poll(() => killedAt, { timeout: 240_000 }).toEqual(expect.arrayContaining(others))
    await whenValid()
    expect((await record()).current?.names).toEqual(NAMES)
  })

  test('is issued by another node if the one that orders it dies', async () => {
    const database = await makeDatabase()
    const flags = (name: string) => ['--database-url', database.databaseUrl, '--node', name]
    const first = startNode(flags('a'), SECRETS)
    await first
    token = await makeToken({ data, databaseUrl: database.databaseUrl })
    const from = port
    ;[port = 0] = await freePorts(1)
    await startNode(flags('b'), SECRETS)
    const { promise: isDead, resolve: died } = Promise.withResolvers<void>()
    pebble.onResponse = async (path) => {
      if (!path.startsWith('/chalZ/')) return
      await kill(first)
      died()
    }
    await send('POST', '/_api/certificate', { name: 'web', kind: 'acme', names: NAMES }, from)
    await isDead
    await whenValid()
    expect((await server).printed()).toContain('received a certificate')
    await killProcesses()
    await database.remove()
  })
})
