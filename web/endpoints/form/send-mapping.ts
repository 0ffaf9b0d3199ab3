import { ApiFailure } from '../../api/client.ts'
import {
  type Precondition,
  postEndpoint,
  readEndpoint,
  readRevision,
} from '../endpoint-requests.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { sameMapping } from '../model/mapping.ts'

export interface MappingSave {
  readonly address: string
  readonly databases: readonly string[]
  /** The mapping on which the edit is based. */
  readonly base: readonly string[]
}

/** Another user changed or removed the endpoint. */
export class MappingConflict extends Error {
  override readonly name = 'MappingConflict'
  readonly removed: boolean

  constructor({ removed }: { removed: boolean }) {
    super(removed ? 'Someone else removed the endpoint.' : 'Someone else changed it.')
    this.removed = removed
  }
}

/**
 * Saves a mapping. After a 412, it reads the endpoint: if the mapping matches, the save is done; if
 * only the revision changed, it saves once more. Resolves with the applied change; `undefined` if
 * another user saved the same mapping.
 *
 * @throws MappingConflict if the user must compare.
 */
export async function sendMapping(
  save: MappingSave,
  condition: Precondition,
  retries = 1,
): Promise<EndpointChange | undefined> {
  const { address, databases, base } = save
  try {
    await postEndpoint({ endpoint: address, databases: [...databases] }, condition)
    return { address, before: condition.onlyNew === true ? null : base, after: databases }
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 412)) throw error
  }
  const now = await readState(address).catch(() => undefined)
  if (now === undefined) throw new MappingConflict({ removed: false })
  const { revision, found } = now
  if (found === undefined) throw new MappingConflict({ removed: true })
  if (sameMapping(found.databases, databases)) return undefined
  if (!sameMapping(found.databases, base) || revision === undefined || retries === 0)
    throw new MappingConflict({ removed: false })
  return sendMapping(save, { revision }, retries - 1)
}

async function readState(address: string) {
  // Read the revision first: if the mapping changes between the two reads, the revision is outdated
  // and the server rejects it.
  const revision = await readRevision(address)
  return { revision, found: await readEndpoint(address) }
}
