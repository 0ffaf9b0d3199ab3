import * as z from 'zod/mini'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { formatAddress } from '../../contract/endpoints/address.ts'
import { readAddress } from '../../endpoints/address.ts'
import { createMapping } from '../../endpoints/mapping.ts'
import { requireOtherAdminEndpoint } from '../../endpoints/registry/admin-access.ts'
import { writeEndpoint } from '../../endpoints/registry/endpoint-writer.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'
import { nameList } from './name-list.ts'

const input = z.object({
  operands: z.tuple([z.string()]),
  options: z.object({ databases: z.optional(nameList) }),
})

export const run: RunCommand = async (context) => {
  const {
    operands: [address],
    options: { databases },
  } = input.parse(context)
  // Such as `--databases "$ONE,$TWO"` in a script whose variables are not set.
  if (databases?.length === 0) {
    throw new Failure(
      'bad-parameter',
      '--databases must have at least one name. Omit it to serve all databases.',
    )
  }
  return [
    await withStore(context.config, (store) =>
      addEndpoint(store, createRecorder(), address, databases ?? []),
    ),
  ]
}

/**
 * Stores an endpoint, or changes the mapping of a stored one. Returns its canonical address. A
 * running node opens it and reports whether that succeeds.
 *
 * @param databases names; empty: every database.
 * @throws Failure `bad-parameter`, `bad-database-name`; `conflict` if the last endpoint that reaches
 * `_system` would lose it.
 */
export async function addEndpoint(
  store: Store,
  record: Recorder,
  text: string,
  databases: readonly string[],
): Promise<string> {
  const endpoint = formatAddress(readAddress(text))
  const mapping = [...createMapping([...databases]).names]
  const guard = requireOtherAdminEndpoint(endpoint)
  const change = { record, actor: COMMAND_LINE, guard }
  await writeEndpoint(store, { endpoint, databases: mapping }, change)
  return endpoint
}
