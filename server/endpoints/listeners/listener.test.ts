import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
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
