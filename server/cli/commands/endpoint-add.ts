import { COMMAND_LINE } from '../../audit/record.ts'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { formatAddress } from '../../contract/endpoints/address.ts'
import { readAddress } from '../../endpoints/address.ts'
import { deleteEndpoint, writeEndpoint } from '../../endpoints/bulk/endpoint-writer.ts'
import { createMapping } from '../../endpoints/registry/mapping/mapping.ts'
import { readEndpoints } from '../../endpoints/registry/repository.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/open.ts'

/** Returns a line per stored endpoint: its address, and its databases or `*` for all. */
export async function listEndpoints(store: Store): Promise<string[]> {
  const stored = await readEndpoints(store)
  return stored.map(
    ({ endpoint, databases }) =>
      `${endpoint}\t${databases.length === 0 ? '*' : databases.join(',')}`,
  )
}

/**
 * Stores an endpoint, or changes the mapping of a stored one. Returns its canonical address. A
 * running node opens it and reports whether that succeeds.
 *
 * @param databases comma-separated names; empty: every database.
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
 * Removes an endpoint and returns its canonical address.
 *
 * @throws Failure `endpoint-not-found`; `conflict` if it is the last endpoint that reaches
 * `_system`.
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
      `${address} is the last endpoint that serves _system. Add another one first.`,
    )
  }
  await deleteEndpoint(store, address, { record, actor: COMMAND_LINE })
  return address
}
