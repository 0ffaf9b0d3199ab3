import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createConnectionLimit } from './connections/connection-limit.ts'
import { Listener } from './listener.ts'

const HOUR = 3_600_000
const MAPPING = { names: [], defaultDatabase: '_system' }

afterEach(() => {
  vi.useRealTimers()
})

test.each([-HOUR, HOUR])(
  'a change of the clock by %d ms during a drain does not change its deadline',
  async (change) => {
    const listener = new Listener({ scheme: 'tcp', host: '127.0.0.1', port: 0 }, MAPPING, 1, {
      engine: {
        serve: () => ({ isIdle: () => false, announceClose: () => {} }),
      } as unknown as ConstructorParameters<typeof Listener>[3]['engine'],
      certificate: undefined,
      limit: createConnectionLimit(1_000, () => 1),
      changed: () => {},
    })
    await listener.open()
    const { address } = listener
    const client = connect(address.scheme === 'unix' ? 0 : address.port, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'connect')
    await expect.poll(() => listener.connections).toBe(1)
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
