import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createTestCertificates } from '../../certificates/certificates.testing.ts'
import type { CertificateSource } from '../../certificates/certificates.ts'
import { SHARE } from '../../concurrency/turn-share.ts'
import { bind } from '../address.ts'
import { createConnectionLimit } from './connections/connection-limit.ts'
import { HANDSHAKES } from './connections/secure-server.ts'
import { createHttpEngine, type HttpEngine } from './http-engine.ts'
import { Listener } from './listener.ts'

const HOUR = 3_600_000
const MAPPING = { names: [], defaultDatabase: '_system' }

afterEach(() => {
  vi.useRealTimers()
})

/** Opens a listener with one connection. */
async function openWithClient(engine: HttpEngine<Listener>) {
  const listener = new Listener({ scheme: 'tcp', host: '127.0.0.1', port: 0 }, MAPPING, 1, {
    engine,
    certificates: createTestCertificates(),
    isTrustedProxy: () => false,
    limit: createConnectionLimit(1_000, () => 1),
    changed: () => {},
  })
  await listener.open()
  onTestFinished(() => listener.close())
  const { address } = listener
  const client = connect(address.scheme === 'unix' ? 0 : address.port, '127.0.0.1')
  client.on('error', () => {})
  await once(client, 'connect')
  await expect.poll(() => listener.connections).toBe(1)
  return { listener, client }
}

test.each([-HOUR, HOUR])(
  'a change of the clock by %d ms during a drain does not change its deadline',
  async (change) => {
    const { listener } = await openWithClient({
      serve: () => ({ isIdle: () => false, announceClose: () => {} }),
    } as unknown as HttpEngine<Listener>)
    const closed = vi.spyOn(listener, 'close')

    vi.useFakeTimers({
      toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    })
    const drained = listener.drain(60_000)
    vi.setSystemTime(Date.now() + change)
    // A longer grace time does not extend the deadline.
    void listener.drain(120_000)
    vi.advanceTimersByTime(59_000)
    expect(closed).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_500)
    expect(closed).toHaveBeenCalledOnce()
    await drained
  },
)

test('the sent bytes do not decrease when a client disconnects without reading its response', async () => {
  const engine = createHttpEngine<Listener>()
  onTestFinished(() => engine.close())
  let written = 0
  engine.onRequest((_request, response) => {
    // More than the buffers of the system hold.
    const write = () => {
      response.write(Buffer.alloc(1024 * 1024))
      if (++written < 32) setImmediate(write)
    }
    write()
  })
  const { listener, client } = await openWithClient(engine)
  client.pause()
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => written).toBe(32)
  const sent = listener.bytes.out
  client.destroy()
  await expect.poll(() => listener.connections).toBe(0)
  expect(listener.bytes.out).toBeGreaterThanOrEqual(sent)
})

const pem = (name: string) =>
  readFileSync(join(import.meta.dirname, '../registry/testdata', `${name}.pem`), 'utf8')
const pair = (name: string) => ({ cert: pem(`${name}.cert`), key: pem(`${name}.key`) })

/** Returns a listener for TLS. */
function createTlsListener(
  certificates: CertificateSource,
  limit = createConnectionLimit(1_000, () => 1),
) {
  const engine = {
    serve: () => ({ isIdle: () => true, announceClose: () => {} }),
  } as unknown as HttpEngine<Listener>
  return new Listener({ scheme: 'ssl', host: '127.0.0.1', port: 0 }, MAPPING, 1, {
    engine,
    certificates,
    isTrustedProxy: () => false,
    limit,
    changed: () => {},
  })
}

const portOf = ({ address }: Listener) => (address.scheme === 'unix' ? 0 : address.port)

test('TLS handshakes that clients begin at once are spread over turns of the event loop', async () => {
  const clients = 30
  const certificates = createTestCertificates()
  certificates.set('default', pair('first'))
  const enter = vi.fn(() => true)
  const listener = createTlsListener(certificates, { enter, leave() {} })
  await listener.open()
  onTestFinished(() => listener.close())
  const [recorder, hello] = await recordHello()
  recorder.close()
  const sockets = await Promise.all(
    Array.from({ length: clients }, async () => {
      const socket = connect(portOf(listener), '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      return socket
    }),
  )
  await expect.poll(() => enter.mock.calls.length).toBe(clients)
  // Each handshake takes all of its share of a turn.
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => (now += SHARE))
  let turn = 0
  const count = () => {
    turn++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const turns = await Promise.all(
    sockets.map(async (socket) => {
      socket.write(hello)
      await once(socket, 'data')
      return turn
    }),
  )
  clearImmediate(counting)
  // Two responses can arrive in the same turn.
  expect(new Set(turns).size).toBeGreaterThan(clients / 2)
})

test('the oldest of too many TLS handshakes is closed', async () => {
  const certificates = createTestCertificates()
  certificates.set('default', pair('first'))
  const listener = createTlsListener(certificates, { enter: () => true, leave() {} })
  await listener.open()
  onTestFinished(() => listener.close())
  const begin = async () => {
    const socket = connect(portOf(listener), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    // The first byte of a handshake.
    socket.write(Buffer.of(22))
    return socket
  }
  const first = await begin()
  const closed = once(first, 'close')
  const rest = await Promise.all(Array.from({ length: HANDSHAKES }, begin))
  await closed
  const isClosed = await Promise.all(rest.map(({ destroyed }) => destroyed))
  expect(isClosed.filter(Boolean)).toEqual([])
  // Another client still gets in.
  const client = connectTls({
    port: portOf(listener),
    host: '127.0.0.1',
    rejectUnauthorized: false,
  })
  await once(client, 'secureConnect')
  for (const socket of [client, ...rest]) socket.destroy()
})

/** Returns a server and the first message of a TLS client that has connected to it. */
async function recordHello() {
  const server = createServer()
  await bind(server, { port: 0, host: '127.0.0.1' })
  const { port } = server.address() as AddressInfo
  const client = connectTls({ port, host: '127.0.0.1' }).on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  return [server, hello] as const
}

test('an ssl listener uses a certificate that is renewed while it opens or later', async () => {
  const [first, renewed] = [pair('first'), pair('renewed')]
  const certificates = createTestCertificates()
  certificates.set('default', first)
  const listener = createTlsListener(certificates)
  const served = async () => {
    const client = connectTls({
      port: portOf(listener),
      host: '127.0.0.1',
      rejectUnauthorized: false,
    })
    await once(client, 'secureConnect')
    const { fingerprint256 } = client.getPeerX509Certificate() ?? {}
    client.destroy()
    return fingerprint256
  }
  const fingerprintOf = ({ cert }: { cert: string }) => new X509Certificate(cert).fingerprint256

  // Binds of the same port run one after the other.
  const other = createServer()
  const held = Promise.withResolvers<void>()
  const holding = bind(other, { port: 0, host: '127.0.0.1' }, () => held.promise)
  const opening = listener.open()
  await nextTurn()
  certificates.set('default', renewed)
  held.resolve()
  await Promise.all([holding, opening])
  other.close()
  expect(await served()).toBe(fingerprintOf(renewed))

  certificates.set('default', first)
  expect(await served()).toBe(fingerprintOf(first))
  listener.close()
  expect(certificates.subscribers).toBe(0)
})
