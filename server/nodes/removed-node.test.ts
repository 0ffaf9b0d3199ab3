import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { ListenerStatus } from '../contract/endpoints/listener.ts'
import type { Store } from '../storage/store.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createNodes } from './nodes.ts'
import { createNodeRepository } from './repository.ts'

const status = (node: string, port: number): ListenerStatus => ({
  endpoint: `tcp://127.0.0.1:${port}`,
  node,
  state: 'listening',
  error: null,
  since: new Date(0).toISOString(),
  nextTry: null,
  drainUntil: null,
  revision: 1,
  connections: 0,
  requests: 0,
  requestsPerSecond: 0,
  bytesIn: 0,
  bytesOut: 0,
  lastRequest: null,
})

forEngine('postgres', (engine) => {
  const fail = (error: unknown) => {
    throw error
  }
  const nodeOf = (store: Store, name: string, onError: (error: unknown) => void = fail) =>
    createNodes({
      store,
      name,
      hostId: 'here',
      onListenersChanged: () => {},
      onPeersChanged: () => {},
      handlePeerCommand: () => {},
      onHeartbeat: async () => {},
      onError,
    })

  test('a removed node reappears with all of its listeners at its next report', async () => {
    const stores = [await engine.open(), await engine.open()] as const
    const [a, b] = [nodeOf(stores[0], 'a'), nodeOf(stores[1], 'b')]
    try {
      await a.start()
      await b.start()
      const known = () =>
        b.peers
          .listeners()
          .map(({ endpoint }) => endpoint.slice(-1))
          .sort()
      for (const port of [1, 2, 3, 4]) a.report(port, () => status('a', port))
      await expect.poll(() => known().length).toBe(4)

      // As if the machine had slept for more than ten minutes.
      await stores[1].db.deleteFrom('node_listeners').execute()
      await stores[1].db.deleteFrom('nodes').where('name', '=', 'a').execute()
      a.forget(2)
      a.report(5, () => status('a', 5))
      await expect.poll(known).toEqual(['1', '3', '4', '5'])
      expect(b.peers.any).toBe(true)
    } finally {
      await Promise.all([a.stop(), b.stop()])
    }
  })

  test('a node that cannot report still reads what the others report', async () => {
    const store = await engine.open()
    const errors: unknown[] = []
    const b = nodeOf(store, 'b', (error) => errors.push(error))
    await b.start()
    try {
      // Simulates a read-only database for this node.
      await sql
        .raw(`
          create function refuse() returns trigger language plpgsql as
            $$ begin raise exception 'read-only' using errcode = '25006'; end $$;
          create trigger refuse before update on nodes for each row
            when (old.name = 'b') execute function refuse()`)
        .execute(store.db)
      await expect.poll(() => errors.length).toBeGreaterThan(0)
      // Without a notification: the next heartbeat has to find it.
      await sql`
        insert into nodes (name, run, place, started_at, seen_at, report, listeners)
        select 'a', 'run', 'here', started_at, seen_at, 1, 0 from nodes`.execute(store.db)
      await expect.poll(() => b.peers.nodes().map(({ name }) => name)).toEqual(['a'])
    } finally {
      await b.stop()
    }
  })

  test('the next report of a removed node has a higher number', async () => {
    const store = await engine.open()
    const { register, report, others } = createNodeRepository(store)
    const a = { name: 'a', run: 'one', hostId: 'here' }
    const reportPorts = async (...ports: number[]) => {
      const changed = ports.map((port) => ({ id: port, status: status('a', port) }))
      await register(a, true)
      await report(a, { changed, closed: [], total: changed.length, notify: true })
      return (await others('b'))[0]?.report ?? 0
    }
    const before = await reportPorts(1)
    await store.db.deleteFrom('nodes').execute()
    expect(await reportPorts(2)).toBeGreaterThan(before)
  })

  test('a removed node whose next report fails sends all listeners with the one after', async () => {
    const stores = [await engine.open(), await engine.open()] as const
    const lost = vi.fn()
    const [a, b] = [nodeOf(stores[0], 'a', lost), nodeOf(stores[1], 'b')]
    const { db } = stores[1]
    try {
      await a.start()
      await b.start()
      const known = () => b.peers.listeners().length
      for (const port of [1, 2, 3]) a.report(port, () => status('a', port))
      await expect.poll(known).toBe(3)

      await db.deleteFrom('node_listeners').execute()
      await db.deleteFrom('nodes').where('name', '=', 'a').execute()
      await sql`alter table node_listeners add constraint away check (false)`.execute(db)
      a.report(4, () => status('a', 4))
      await expect.poll(() => lost.mock.calls.length).toBeGreaterThan(0)
      await sql`alter table node_listeners drop constraint away`.execute(db)
      a.report(5, () => status('a', 5))
      await expect.poll(known).toBe(5)
    } finally {
      await Promise.all([a.stop(), b.stop()])
    }
  })
})
