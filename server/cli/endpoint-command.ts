import { COMMAND_LINE } from './audit/record.ts'
import { formatAddress } from './contract/address.ts'
import { SYSTEM_DATABASE } from './contract/database.ts'
import { readAddress } from './endpoints/address.ts'
import { createMapping } from './endpoints/mapping.ts'
import { deleteEndpoint, readEndpoints, writeEndpoint } from './endpoints/repository.ts'
import { Failure } from './failure.ts'
import type { Store } from './storage/open.ts'
import type { Recorder } from './storage/recorder.ts'

/** Every stored endpoint, a line each: its address, and its databases or `*` for all. */
export async function listEndpoints(store: Store): Promise<string[]> {
  const stored = await readEndpoints(store)
  return stored.map(
    ({ endpoint, databases }) =>
      `${endpoint}\t${databases.length === 0 ? '*' : databases.join(',')}`,
  )
}

/**
 * Stores an endpoint, or another mapping for one that is stored, and answers its canonical address.
 * Whether it can be opened shows on the node.
 *
 * @param databases names with commas; none: every database.
 * @throws Failure `bad-parameter`, `bad-database-name`
 */
export async function addEndpoint(
  store: Store,
  record: Recorder,
  text: string,
  databases = '',
): Promise<string> {
  const names = databases.split(',').filter((name) => name !== '')
  const endpoint = formatAddress(readAddress(text))
  const mapping = [...createMapping(names).names]
  await writeEndpoint(store, { endpoint, databases: mapping }, { record, actor: COMMAND_LINE })
  return endpoint
}

/**
 * Removes an endpoint and answers its canonical address.
 *
 * @throws Failure `endpoint-not-found`; `conflict` where no other would lead to `_system`.
 */
export async function removeEndpoint(
  store: Store,
  record: Recorder,
  text: string,
): Promise<string> {
  const address = formatAddress(readAddress(text))
  const stored = await readEndpoints(store)
  if (!stored.some(({ endpoint }) => endpoint === address)) {
    throw new Failure('endpoint-not-found', `There is no endpoint ${address}.`)
  }
  const leadsIn = stored.filter(
    ({ databases }) => databases.length === 0 || databases.includes(SYSTEM_DATABASE),
  )
  if (leadsIn.length === 1 && leadsIn[0]?.endpoint === address) {
    throw new Failure(
      'conflict',
      `${address} is the last endpoint that reaches _system. Add another that does first.`,
    )
  }
  await deleteEndpoint(store, address, { record, actor: COMMAND_LINE })
  return address
}
