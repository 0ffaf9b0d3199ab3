import { describe } from 'vitest'
import type { Config } from './config.ts'
import { startForTest, type TestNode } from './start.testing.ts'
import { makeDatabase } from './storage/each-engine.testing.ts'
import { openStore, type Store } from './storage/open.ts'

/** A node of a test on one of the engines. */
export interface EngineNode extends TestNode {
  /** Opens its store, as a command beside it does. To be closed by the test. */
  readonly openStore: () => Promise<Store>
}

/**
 * For tests that ask a node as its clients do: declares those of `suite` for each real engine. What
 * it `start`s has a store of its own, empty, which goes when the node is stopped.
 */
export function forEachEngineNode(
  suite: (start: (settings?: Partial<Config>) => Promise<EngineNode>) => void,
): void {
  describe('sqlite', () => {
    suite(async (settings) => {
      const node = await startForTest(settings)
      return { ...node, openStore: () => openStore({ data: node.data }, 'tool') }
    })
  })
  describe('postgres', () => {
    suite(async (settings) => {
      const { databaseUrl, location, remove } = await makeDatabase()
      const node = await startForTest({ ...settings, databaseUrl })
      const stop = async () => {
        await node.stop()
        await remove()
      }
      return { ...node, stop, openStore: () => openStore(location, 'tool') }
    })
  })
}
