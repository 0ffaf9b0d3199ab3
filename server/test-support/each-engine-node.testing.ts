import { describe } from 'vitest'
import type { Config } from '../cli/config.ts'
import type { EngineName } from '../storage/engine.ts'
import { openStore } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import { makeDatabase } from '../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from './start.testing.ts'

/** A node of a test on one of the engines. */
export interface EngineNode extends TestNode {
  /** Opens its store, as a command does. The test must close it. */
  readonly openStore: () => Promise<Store>
}

/** Starts a node on each engine. */
const STARTS: Record<EngineName, (settings?: Partial<Config>) => Promise<EngineNode>> = {
  async sqlite(settings) {
    const node = await startForTest(settings)
    return { ...node, openStore: () => openStore({ data: node.data }, 'tool') }
  },
  async postgres(settings) {
    const { databaseUrl, location, remove } = await makeDatabase()
    const node = await startForTest({ ...settings, databaseUrl })
    const stop = async () => {
      await node.stop()
      await remove()
    }
    return { ...node, stop, openStore: () => openStore(location, 'tool') }
  },
}

/**
 * Declares the tests of `suite` for each engine, by default both. Each node that it `start`s has its
 * own empty store, which is removed when the node stops.
 */
export function forEachEngineNode(
  suite: (start: (settings?: Partial<Config>) => Promise<EngineNode>) => void,
  engines: readonly EngineName[] = ['sqlite', 'postgres'],
): void {
  for (const engine of engines) describe(engine, () => suite(STARTS[engine]))
}
