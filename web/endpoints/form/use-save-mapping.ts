import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import { ApiFailure } from '../../app/api.ts'
import { endpointsQuery } from '../../app/queries.ts'
import { readEndpoint, readRevision } from '../endpoint-requests.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { toFieldErrors } from '../model/field-errors.ts'
import { sameMapping } from '../model/mapping.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'
import { draftMapping, type FieldErrors } from './endpoint-draft.ts'
import type { MappingDraft } from './mapping/use-mapping-draft.ts'
import { NotApplied } from './save-steps.ts'
import { useSaveEndpoint } from './use-save-endpoint.ts'

/**
 * Saves an edited mapping. After a 412, it reads the endpoint: if the mapping matches the draft,
 * the save is done; if only the revision changed, it saves once more; otherwise the user must
 * compare.
 */
export function useSaveMapping(
  address: string,
  mapping: MappingDraft,
  callbacks: {
    /** Receives the applied change; `undefined` if another user saved the same mapping. */
    readonly onSaved: (change: EndpointChange | undefined) => void
    readonly onErrors: (errors: FieldErrors) => void
    /** Closes the form. */
    readonly close: () => void
    /** Called before the mapping is sent. */
    readonly prepare?: (() => Promise<void>) | undefined
  },
) {
  const queryClient = useQueryClient()
  const { stage, save, closeIfOpen, stopWaiting } = useSaveEndpoint(callbacks.close)
  // The draft may change while a save waits.
  const latest = useRef(mapping)
  latest.current = mapping

  const run = (condition: { revision?: number | undefined; onlyNew?: boolean }, again: boolean) => {
    const databases = draftMapping(latest.current.draft)
    const before = condition.onlyNew === true ? null : latest.current.base
    void save(
      {
        change: { what: `The mapping of ${address}`, done: 'saved' },
        address,
        databases,
        ...condition,
      },
      {
        prepare: callbacks.prepare,
        onSuccess: () => {
          // If the change disconnects this page, the list cannot be refetched.
          queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
            list?.map((each) => (each.endpoint === address ? { ...each, databases } : each)),
          )
          callbacks.onSaved({ address, before, after: databases })
        },
        onError: (error) => {
          if (error instanceof NotApplied) callbacks.onErrors({ form: NOT_SAVED })
          else if (isPreconditionFailed(error)) void compare(databases, again)
          else
            callbacks.onErrors(
              toFieldErrors(error, { scheme: 'tcp', adding: condition.onlyNew === true }),
            )
        },
      },
    )
  }

  async function compare(databases: readonly string[], again: boolean): Promise<void> {
    // Read the revision first: if the mapping changes between the two reads, the revision is
    // outdated and the server rejects it.
    const now = await Promise.resolve()
      .then(async () => ({
        revision: await readRevision(address),
        found: await readEndpoint(address),
      }))
      .catch(() => undefined)
    await refetchEndpoints(queryClient, [address])
    if (now === undefined) return callbacks.onErrors({ form: CONFLICT_MESSAGE })
    const { found, revision } = now
    // The page shows that the endpoint was removed.
    if (found === undefined) return callbacks.onErrors({})
    if (sameMapping(found.databases, databases)) {
      callbacks.onSaved(undefined)
      return closeIfOpen()
    }
    const sameAsBefore = sameMapping(found.databases, latest.current.base)
    if (sameAsBefore && revision !== undefined && again) return run({ revision }, false)
    return callbacks.onErrors({ form: CONFLICT_MESSAGE })
  }

  return {
    stage,
    stopWaiting,
    /** `gone`: the endpoint was removed and is added again. */
    save: (gone: boolean) => run(gone ? { onlyNew: true } : { revision: mapping.revision }, true),
  }
}

const CONFLICT_MESSAGE = 'Someone changed this endpoint. Compare, choose, then save again.'
const NOT_SAVED = 'The connection failed and the mapping was not saved. Save it again.'

const isPreconditionFailed = (error: Error) => error instanceof ApiFailure && error.status === 412
