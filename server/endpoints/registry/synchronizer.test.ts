import { AsyncLocalStorage } from 'node:async_hooks'
import type { LookupAddress } from 'node:dns'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { mockLookup } from '../../test-support/mock-lookup.testing.ts'
import { readAddress } from '../address.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { deleteEndpoint, writeEndpoint } from './endpoint-writer.ts'
import { createLoneRegistry } from './reconciler/lone-node.testing.ts'
import type { EndpointRegistry } from './registry.ts'
import { readEndpoint } from './repository.ts'

const change = { actor: START, record: createRecorder() }

forEngine('postgres', (engine) => {
  let store: Store
  let endpoints: EndpointRegistry
  let endpoint: string

  beforeEach(async () => {
    store = await engine.open()
    endpoints = createLoneRegistry(store, true)
    const [port] = await freePorts(1)
    endpoint = `tcp://127.0.0.1:${port}`
    await endpoints.add({ endpoint, databases: [] }, START)
  })
  afterEach(() => endpoints.stop(0))

  test('an endpoint on port 0 stays open if a sync reads it before its change has returned', async () => {
    const { change } = store
    Object.assign(store, {
      change: async <T>(work: Parameters<typeof change<T>>[0]) => {
        const result = await change(work)
        await endpoints.sync()
        return result
      },
    })
    await endpoints.ensure(readAddress('tcp://127.0.0.1:0', { anyPort: true }), START, true)
    const states = endpoints.listeners().map(({ state }) => state)
    expect(states).toEqual(['listening', 'listening'])
  })

  test('an endpoint given at startup keeps the databases that another node gives it at that time', async () => {
    await endpoints.remove(endpoint, START)
    const original = store.change
    Object.assign(store, {
      change: async <T>(work: Parameters<typeof original<T>>[0]) => {
        Object.assign(store, { change: original })
        await writeEndpoint(store, { endpoint, databases: ['blog'] }, change)
        return original(work)
      },
    })
    await endpoints.ensure(readAddress(endpoint), START, true)
    expect(endpoints.list()).toEqual([{ endpoint, databases: ['blog'] }])
    expect(endpoints.listeners().map(({ state }) => state)).toEqual(['listening'])
    expect(await readEndpoint(store, endpoint)).toMatchObject({ databases: ['blog'] })
  })

  /** Runs `act` while a change of the endpoint by this node waits for a lock in the database. */
  async function whileChanging(act: () => Promise<void>): Promise<void> {
    let change: Promise<unknown> = Promise.resolve()
    const outside = AsyncLocalStorage.snapshot()
    const meanwhile = async () => {
      change = endpoints.add({ endpoint, databases: ['own'] }, START)
      const waiting = sql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await waiting.execute(store.db)).rows.length).toBe(1)
      await act()
    }
    await store.transaction(async (trx) => {
      await sql`select 1 from counters for update`.execute(trx)
      await outside(meanwhile)
    })
    await change
  }

  test('a mapping changed by another node applies while a change of this node waits', async () => {
    await whileChanging(async () => {
      await store.db.updateTable('endpoints').set({ databases: '["b"]', revision: 9 }).execute()
      await endpoints.sync()
      expect(endpoints.list()).toEqual([{ endpoint, databases: ['b'] }])
    })
  })

  test('an endpoint removed by another node is closed while a change of this node waits', async () => {
    await whileChanging(async () => {
      await store.db.deleteFrom('endpoints').execute()
      await endpoints.sync()
      expect(endpoints.list()).toEqual([])
    })
    // The pending change has stored the endpoint again.
    await endpoints.sync()
    expect(endpoints.list()).toEqual([{ endpoint, databases: ['own'] }])
  })

  test('a late response to a change does not revert later changes', async () => {
    let meanwhile = async () => {}
    const node = createLoneRegistry(
      {
        ...store,
        async change(work) {
          const result = await store.change(work)
          await meanwhile()
          return result
        },
      },
      true,
    )
    const [port] = await freePorts(1)
    const changed = `tcp://127.0.0.1:${port}`
    await node.add({ endpoint: changed, databases: [] }, START)
    meanwhile = async () => {
      meanwhile = async () => {}
      const later = { databases: '["b"]', revision: 99 }
      await store.db.updateTable('endpoints').set(later).where('address', '=', changed).execute()
      await store.db.updateTable('counters').set({ value: 99 }).execute()
      await node.sync()
    }
    await node.add({ endpoint: changed, databases: ['own'] }, START)
    expect(node.list()).toContainEqual({ endpoint: changed, databases: ['b'] })
    await node.stop(0)
  })
})

/** Lets host names resolve to this machine once the returned function is called. */
function answerLater(): () => void {
  const answer = Promise.withResolvers<LookupAddress[]>()
  mockLookup(() => answer.promise)
  return () => answer.resolve([{ address: '127.0.0.1', family: 4 }])
}

forEachEngine((engine) => {
  let resolve: () => void
  let store: Store
  let endpoints: EndpointRegistry
  let endpoint: string

  beforeEach(async () => {
    resolve = answerLater()
    store = await engine.open()
    endpoints = createLoneRegistry(store, engine.name === 'postgres')
    const [port] = await freePorts(1)
    endpoint = `tcp://127.0.0.1:${port}`
    await endpoints.add({ endpoint, databases: [] }, START)
  })
  afterEach(async () => {
    resolve()
    await endpoints.stop(0)
  })

  const listed = () => endpoints.list().map((each) => each.endpoint)

  test('a sync does not wait for a host name that resolves slowly', async () => {
    const slow = `tcp://slow.test:${new URL(endpoint).port}`
    await writeEndpoint(store, { endpoint: slow, databases: [] }, change)
    await deleteEndpoint(store, endpoint, change)
    await endpoints.sync()
    const states = endpoints.listeners().map(({ name, state }) => [name, state])
    expect(states).toContainEqual([slow, 'opening'])
    expect(listed()).not.toContain(endpoint)
    resolve()
    await expect.poll(() => endpoints.listeners().at(-1)?.state).toBe('listening')
  })

  test('an endpoint is closed while another one waits to be opened', async () => {
    const slow = `tcp://slow.test:${new URL(endpoint).port}`
    const adding = endpoints.add({ endpoint: slow, databases: [] }, START)
    await writeEndpoint(store, { endpoint: slow, databases: ['b'] }, change)
    await endpoints.sync()
    expect(listed()).toEqual([endpoint])
    await deleteEndpoint(store, endpoint, change)
    await endpoints.sync()
    expect(listed()).toEqual([])
    resolve()
    await adding
    expect(listed()).toEqual([slow])
  })

  test('an endpoint whose first read fails is opened', async () => {
    const [port] = await freePorts(1)
    const added = `tcp://127.0.0.1:${port}`
    await writeEndpoint(store, { endpoint: added, databases: [] }, change)
    const { db } = store
    // Before it, the sync reads the changes, and on PostgreSQL the proposals.
    const failed = engine.name === 'postgres' ? 3 : 2
    let reads = 0
    const failing = () => {
      reads += 1
      if (reads !== failed) return db
      throw new Failure('unavailable', 'The database is unavailable.')
    }
    Object.defineProperty(store, 'db', { get: failing, configurable: true })
    await endpoints.sync()
    await expect.poll(listed).toContain(added)
    expect(reads).toBeGreaterThan(failed)
  })

  test('a store restored from a backup is applied', async () => {
    const { value } = await store.db
      .selectFrom('counters')
      .select('value')
      .executeTakeFirstOrThrow()
    await endpoints.add({ endpoint, databases: ['_system', 'new'] }, START)
    expect(await endpoints.sync()).toBe(value + 1)
    await store.db.updateTable('endpoints').set({ databases: '["old"]', revision: value }).execute()
    await store.db.updateTable('counters').set({ value }).execute()
    expect(await endpoints.sync()).toBe(value)
    expect(endpoints.list()).toEqual([{ endpoint, databases: ['old'] }])
  })
})
