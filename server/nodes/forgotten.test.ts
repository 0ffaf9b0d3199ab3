import { expect, test } from 'vitest'
import type { ListenerStatus } from '../contract/listener.ts'
import { forEngine } from '../storage/each-engine.testing.ts'
import type { Store } from '../storage/open.ts'
import { createNodes } from './nodes.ts'

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
  const nodeOf = (store: Store, name: string) =>
    createNodes({
      store,
      name,
      place: 'here',
      changed: () => {},
      lookAround: () => {},
      obey: () => {},
      onHeartbeat: async () => {},
      onError: (error) => {
        throw error
      },
    })

  test('a node that the others have forgotten is there again with its next word, with all of its listeners', async () => {
    const stores = [await engine.open(), await engine.open()] as const
    const [a, b] = [nodeOf(stores[0], 'a'), nodeOf(stores[1], 'b')]
    try {
      await a.start()
      await b.start()
      const known = () =>
        b
          .others()
          .map(({ endpoint }) => endpoint.slice(-1))
          .sort()
      // One after the other: what it counts its reports by is behind that when it begins anew.
      for (const port of [1, 2, 3, 4]) {
        a.report(port, () => status('a', port))
        await expect.poll(() => known().length).toBe(port)
      }

      // As after ten minutes and more in which its machine slept.
      await stores[1].db.deleteFrom('node_listeners').execute()
      await stores[1].db.deleteFrom('nodes').where('name', '=', 'a').execute()
      a.forget(2)
      a.report(5, () => status('a', 5))
      await expect.poll(known).toEqual(['1', '3', '4', '5'])
      expect(b.any).toBe(true)
    } finally {
      await Promise.all([a.stop(), b.stop()])
    }
  })
})
