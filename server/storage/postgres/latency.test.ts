import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { nextRevision } from '../changes/begin-change.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { makeDatabase } from '../test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../test-support/tcp-proxy.testing.ts'
import { MAX_ROUND_TRIP } from './connections/probe.ts'

// The time is simulated: it stands still while the server works, however busy the machine is.

/** Number of turns of the event loop in which bytes pass between the store and the proxy. */
const TURNS = 10

/** Step of the simulated time, ms. */
const STEP = 10

/** Waits for work, and advances the time while the server has nothing to do. */
async function settled<T>(proxy: TcpProxy, work: Promise<T>): Promise<T> {
  let isSettled = false
  const end = () => {
    isSettled = true
  }
  work.then(end, end)
  while (!isSettled) {
    for (let turn = 0; turn < TURNS || proxy.isServerBusy; turn++) await nextTurn()
    vi.advanceTimersByTime(STEP)
  }
  return work
}

/** A store whose connections to the server have a simulated latency. */
interface Remote extends AsyncDisposable {
  readonly store: Store
  readonly proxy: TcpProxy
  /** One entry per change of availability: true if the database became available. */
  readonly reached: readonly boolean[]
}

async function openRemote(roundTrip: number): Promise<Remote> {
  const testDatabase = await makeDatabase()
  const url = new URL(testDatabase.databaseUrl)
  const proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  const reached: boolean[] = []
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  })
  const store = await settled(
    proxy,
    openStore({ databaseUrl: url.href }, 'node', (away) => reached.push(away === undefined)),
  )
  proxy.delay(roundTrip)
  return {
    store,
    proxy,
    reached,
    async [Symbol.asyncDispose]() {
      proxy.delay(0)
      await settled(proxy, store.close())
      vi.useRealTimers()
      await proxy.close()
      await testDatabase.remove()
    },
  }
}

const read = ({ db }: Store) => db.selectFrom('counters').selectAll().execute()

describe('a remote server', () => {
  afterEach(() => vi.useRealTimers())

  test.each([300, MAX_ROUND_TRIP])('serves all requests at %i ms round trip', async (roundTrip) => {
    await using remote = await openRemote(roundTrip)
    const { store, proxy, reached } = remote
    // More queries than the pool has connections, one of which is already open.
    const reads = Array.from({ length: 12 }, () => read(store))
    const all = Promise.all([...reads, store.change(nextRevision)])
    expect(await settled(proxy, all)).toHaveLength(13)
    expect(await settled(proxy, read(store))).toEqual([{ name: 'revision', value: 1 }])
    expect(reached).toEqual([])
  })

  test('is detected as unavailable, and used again when it recovers', async () => {
    await using remote = await openRemote(MAX_ROUND_TRIP)
    const { store, proxy } = remote
    await settled(proxy, read(store))
    proxy.swallow()
    const unavailable = { code: 'unavailable' }
    await expect(settled(proxy, read(store))).rejects.toMatchObject(unavailable)
    await expect(settled(proxy, store.change(nextRevision))).rejects.toMatchObject(unavailable)
    expect(store.outage()).toMatchObject({ reason: 'no answer' })
    proxy.heal()
    await settled(proxy, store.recovered())
    expect(store.outage()).toBeUndefined()
    expect(await settled(proxy, read(store))).toHaveLength(1)
  })
})
