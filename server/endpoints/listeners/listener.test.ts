import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { bind } from './bind.ts'
import { createConnectionLimit } from './connections/connection-limit.ts'
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
    certificate: undefined,
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

test('an ssl listener uses a certificate that is renewed while it opens or later', async () => {
  const pem = (name: string) =>
    readFileSync(join(import.meta.dirname, '../registry/testdata', `${name}.pem`), 'utf8')
  const pair = (name: string) => ({ cert: pem(`${name}.cert`), key: pem(`${name}.key`) })
  const [first, renewed] = [pair('first'), pair('renewed')]
  const subscribers = new Set<() => void>()
  const certificate = {
    context: first,
    onRenewed(subscriber: () => void) {
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },
    close() {},
  }
  const engine = {
    serve: () => ({ isIdle: () => true, announceClose: () => {} }),
  } as unknown as HttpEngine<Listener>
  const listener = new Listener({ scheme: 'ssl', host: '127.0.0.1', port: 0 }, MAPPING, 1, {
    engine,
    certificate,
    limit: createConnectionLimit(1_000, () => 1),
    changed: () => {},
  })
  const served = async () => {
    const { address } = listener
    const port = address.scheme === 'unix' ? 0 : address.port
    const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
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
  certificate.context = renewed
  for (const subscriber of subscribers) subscriber()
  held.resolve()
  await Promise.all([holding, opening])
  other.close()
  expect(await served()).toBe(fingerprintOf(renewed))

  certificate.context = first
  for (const subscriber of subscribers) subscriber()
  expect(await served()).toBe(fingerprintOf(first))
  listener.close()
  await expect.poll(() => subscribers.size).toBe(0)
})
