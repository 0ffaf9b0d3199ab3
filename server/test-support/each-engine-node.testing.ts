import { describe } from 'vitest'
import type { Config } from '../cli/config.ts'
import { openStore } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import { makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from './start.testing.ts'

/** A node of a test on one of the engines. */
export interface EngineNode extends TestNode {
  /** Opens its store, as a command does. The test must close it. */
  readonly openStore: () => Promise<Store>
}

/**
 * Declares the tests of `suite` for each real engine. Each node that it `start`s has its own empty
 * store, which is removed when the node stops.
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
