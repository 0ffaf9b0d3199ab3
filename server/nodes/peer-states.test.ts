import { afterEach, expect, test, vi } from 'vitest'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import { createPeerStates } from './peer-states.ts'
import { DEAD_AFTER } from './repository.ts'

afterEach(() => vi.useRealTimers())

const status = { endpoint: 'tcp://127.0.0.1:1', state: 'listening', revision: 1 } as ListenerStatus

/** Returns the states of a peer that has just sent a heartbeat. */
async function statesOfPeer() {
  const peers = createPeerStates({
    repository: {
      others: async () => [
        { name: 'b', run: 'b', hostId: 'there', report: 1, listeners: 1, silence: 0 },
      ],
      listenersOf: async () => [{ id: 1, status }],
    },
    self: { name: 'a', run: 'a', hostId: 'here' },
    onListenersChanged: () => {},
    onPeersChanged: () => {},
  })
  await peers.read()
  return peers
}

test.each([-3_600_000, 3_600_000])(
  'a peer is not silent after a change of the clock by %d ms',
  async (change) => {
    vi.useFakeTimers()
    const peers = await statesOfPeer()
    vi.setSystemTime(Date.now() + change)
    expect(peers.listeners()).toEqual([status])
    const seen = Date.now()
    vi.advanceTimersByTime(DEAD_AFTER)
    expect(peers.listeners()).toEqual([{ ...status, silentSince: new Date(seen).toISOString() }])
  },
)

test('changes that were read before a query failed are reported by the next read', async () => {
  const state = { report: 1, listener: status, fails: false }
  const reported: string[] = []
  let peersChanged = 0
  const peers = createPeerStates({
    repository: {
      others: async () =>
        ['b', 'c'].map((name) => ({
          name,
          run: name,
          hostId: 'there',
          listeners: 1,
          silence: 0,
          report: state.report,
        })),
      async listenersOf(name) {
        if (name === 'c' && state.fails) throw new Error('on purpose')
        return [{ id: 1, status: state.listener }]
      },
    },
    self: { name: 'a', run: 'a', hostId: 'here' },
    onListenersChanged: (endpoint) => reported.push(endpoint),
    onPeersChanged: () => {
      peersChanged++
    },
  })
  await peers.read()
  const { version } = peers
  Object.assign(state, { report: 2, listener: { ...status, state: 'failed' }, fails: true })
  await expect(peers.read()).rejects.toThrow('on purpose')
  expect(peers.listeners()).toEqual([status, status])
  state.fails = false
  await peers.read()
  expect(peers.listeners()).toEqual([state.listener, state.listener])
  expect(peers.version).toBe(version + 1)
  expect(peersChanged).toBe(2)
  expect(reported).toEqual([status.endpoint, status.endpoint])
})
