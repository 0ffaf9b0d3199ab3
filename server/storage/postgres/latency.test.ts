import { describe, test } from 'vitest'
import { nextRevision } from '../changes/next-revision.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { makeDatabase } from '../test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../test-support/tcp-proxy.testing.ts'
import { MAX_ROUND_TRIP } from './probe.ts'

/** A store whose connections to the server have a simulated latency. */
interface Distant extends AsyncDisposable {
  readonly store: Store
  readonly proxy: TcpProxy
  /** One entry per change of availability: true if the database became available. */
  readonly reached: readonly boolean[]
}

async function openDistant(roundTrip: number): Promise<Distant> {
  const testDatabase = await makeDatabase()
  const url = new URL(testDatabase.databaseUrl)
  const proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  const reached: boolean[] = []
  const store = await openStore({ databaseUrl: url.href }, 'node', (away) =>
    reached.push(away === undefined),
  )
  proxy.delay(roundTrip)
  return {
    store,
    proxy,
    reached,
    async [Symbol.asyncDispose]() {
      proxy.delay(0)
      await store.close()
      await proxy.close()
      await testDatabase.remove()
    },
  }
}

const read = ({ db }: Store) => db.selectFrom('counters').selectAll().execute()

describe.concurrent('a distant server', () => {
  test.for([300, MAX_ROUND_TRIP])(
    'serves all requests at %i ms round trip',
    async (roundTrip, { expect }) => {
      await using distant = await openDistant(roundTrip)
      const { store, reached } = distant
      // More queries than the pool has connections, one of which is already open.
      const reads = Array.from({ length: 12 }, () => read(store))
      expect(await Promise.all([...reads, store.change(nextRevision)])).toHaveLength(13)
      expect(await read(store)).toEqual([{ name: 'revision', value: 1 }])
      expect(reached).toEqual([])
    },
  )

  test('is detected as unavailable, and used again when it recovers', async ({ expect }) => {
    await using distant = await openDistant(MAX_ROUND_TRIP)
    const { store, proxy } = distant
    await read(store)
    proxy.swallow()
    await expect(read(store)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.change(nextRevision)).rejects.toMatchObject({ code: 'unavailable' })
    expect(store.outage()).toMatchObject({ reason: 'no answer' })
    proxy.heal()
    await expect.poll(() => store.outage()).toBeUndefined()
    expect(await read(store)).toHaveLength(1)
  })
})
