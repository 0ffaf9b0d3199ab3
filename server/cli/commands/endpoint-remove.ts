import * as z from 'zod/mini'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { formatAddress } from '../../contract/endpoints/address.ts'
import { readAddress } from '../../endpoints/address.ts'
import { requireOtherAdminEndpoint } from '../../endpoints/registry/admin-access.ts'
import { deleteEndpoint } from '../../endpoints/registry/endpoint-writer.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'

const input = z.object({ operands: z.tuple([z.string()]) })

export const run: RunCommand = async (context) => {
  const [address] = input.parse(context).operands
  return [
    await withStore(context.config, (store) => removeEndpoint(store, createRecorder(), address)),
  ]
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
  const guard = requireOtherAdminEndpoint(address)
  const isRemoved = await deleteEndpoint(store, address, { record, actor: COMMAND_LINE, guard })
  if (!isRemoved) throw new Failure('endpoint-not-found', `There is no endpoint ${address}.`)
  return address
}
