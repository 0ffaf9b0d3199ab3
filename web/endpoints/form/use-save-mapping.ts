import { useQueryClient } from '@tanstack/react-query'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import { ApiFailure } from '../../api/client.ts'
import { endpointsQuery } from '../../api/queries.ts'
import {
  type Precondition,
  postEndpoint,
  readEndpoint,
  readRevision,
} from '../endpoint-requests.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { sameMapping } from '../model/mapping.ts'
import { refetchEndpoints } from '../queries.ts'
import { draftMapping, type FieldErrors } from './endpoint-draft.ts'
import { toFieldErrors } from './field-errors.ts'
import type { MappingDraft } from './mapping/use-mapping-draft.ts'
import { NotApplied } from './save-steps.ts'
import { useSaveEndpoint } from './use-save-endpoint.ts'

/** Saves an edited mapping. In a conflict with another user's change, the user must compare. */
export function useSaveMapping(
  address: string,
  mapping: MappingDraft,
  callbacks: {
    /** Receives the applied change, which has no effect if another user saved the same mapping. */
    readonly onSaved: (change: EndpointChange) => void
    readonly onErrors: (errors: FieldErrors) => void
    /** Closes the form. */
    readonly close: () => void
  },
) {
  const queryClient = useQueryClient()
  const { stage, save, stopWaiting } = useSaveEndpoint(callbacks.close)

  /** `gone`: the endpoint was removed and is added again. */
  const saveMapping = (gone: boolean) => {
    const { draft, base, revision } = mapping
    const databases = draftMapping(draft)
    let change: EndpointChange = { address, before: gone ? null : base, after: databases }
    void save(
      {
        change: { what: `The mapping of ${address}`, done: 'saved' },
        address,
        databases,
        send: async () => {
          try {
            const condition = gone ? { onlyNew: true } : { revision }
            const sent = await sendMapping({ address, databases, base }, condition)
            change = sent ?? { address, before: databases, after: databases }
          } catch (error) {
            // The form shows the stored mapping.
            if (error instanceof MappingConflict) await refetchEndpoints(queryClient, [address])
            throw error
          }
        },
      },
      {
        onApplied: () => {
          // If the change disconnects this page, the list cannot be refetched. A mapping other than
          // `base` may be newer than the saved one.
          const isOutdated = (each: EndpointRecord) =>
            each.endpoint === address && sameMapping(each.databases, base)
          queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
            list?.map((each) => (isOutdated(each) ? { ...each, databases } : each)),
          )
        },
        onSuccess: () => callbacks.onSaved(change),
        onError: (error) => callbacks.onErrors(toMappingErrors(error, gone)),
      },
    )
  }

  return { stage, stopWaiting, save: saveMapping }
}

function toMappingErrors(error: Error, gone: boolean): FieldErrors {
  if (error instanceof NotApplied) return { form: NOT_SAVED }
  if (!(error instanceof MappingConflict))
    return toFieldErrors(error, { scheme: 'tcp', adding: gone })
  // The form shows that the endpoint was removed.
  return error.removed ? {} : { form: CONFLICT_MESSAGE }
}

const CONFLICT_MESSAGE = 'Someone changed this endpoint. Compare, choose, then save again.'
const NOT_SAVED = 'The connection failed and the mapping was not saved. Save it again.'

interface MappingSave {
  readonly address: string
  readonly databases: readonly string[]
  /** The mapping on which the edit is based. */
  readonly base: readonly string[]
}

/** Another user changed or removed the endpoint. */
class MappingConflict extends Error {
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
async function sendMapping(
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
