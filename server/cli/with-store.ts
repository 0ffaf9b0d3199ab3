import { locationOf, openStore } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import type { Config } from './config.ts'

/**
 * Opens the store for one task, while a node may be running, and closes it afterwards.
 *
 * @throws Failure `not-found` if there is no store.
 */
export async function withStore<T>(
  config: Pick<Config, 'data' | 'databaseUrl'>,
  task: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(locationOf(config), 'command')
  try {
    return await task(store)
  } finally {
    await store.close()
  }
}
