import { readEndpoints } from '../../endpoints/registry/repository.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'

export const run: RunCommand = ({ config }) => withStore(config, listEndpoints)

/** Returns a line per stored endpoint: its address, and its databases or `*` for all. */
async function listEndpoints(store: Store): Promise<string[]> {
  const stored = await readEndpoints(store)
  return stored.map(
    ({ endpoint, databases }) =>
      `${endpoint}\t${databases.length === 0 ? '*' : databases.join(',')}`,
  )
}
