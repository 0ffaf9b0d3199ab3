import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { ApiFailure } from '../api.ts'
import { draftMapping, type Faults } from './endpoint-draft.ts'
import { readEndpoint, readRevision } from './endpoint-requests.ts'
import { sameMapping } from './mapping.ts'
import { readAgain } from './read-again.ts'
import { placeRefusal } from './refusal.ts'
import { NotDone } from './save-steps.ts'
import type { MappingDraft } from './use-mapping-draft.ts'
import { useSaveEndpoint } from './use-save-endpoint.ts'

/**
 * Saves an edited mapping. Where the endpoint has moved on (412) it looks what has become of it: that
 * may be what was to be saved, or nothing of substance; otherwise theirs is to be compared.
 */
export function useSaveMapping(
  address: string,
  mapping: MappingDraft,
  told: { readonly onSaved: () => void; readonly onFaults: (faults: Faults) => void },
) {
  const queryClient = useQueryClient()
  const { stage, save, stopWaiting } = useSaveEndpoint()
  // The latest: a save may wait while the page goes on.
  const latest = useRef(mapping)
  latest.current = mapping

  const run = (condition: { revision?: number | undefined; onlyNew?: boolean }, again: boolean) => {
    const databases = draftMapping(latest.current.draft)
    void save(
      { address, databases, ...condition },
      {
        onSuccess: told.onSaved,
        onError: (error) => {
          if (error instanceof NotDone) told.onFaults({ form: NOT_SAVED })
          else if (hasMovedOn(error)) void compare(databases, again)
          else
            told.onFaults(
              placeRefusal(error, { scheme: 'tcp', adding: condition.onlyNew === true }),
            )
        },
      },
    )
  }

  async function compare(databases: readonly string[], again: boolean): Promise<void> {
    // The revision first: if the mapping changes in between, the revision is the one that is too old.
    const now = await Promise.resolve()
      .then(async () => ({
        revision: await readRevision(address),
        found: await readEndpoint(address),
      }))
      .catch(() => undefined)
    await readAgain(queryClient, [address])
    if (now === undefined) return told.onFaults({ form: MOVED })
    const { found, revision } = now
    // Gone: the page says so by itself.
    if (found === undefined) return told.onFaults({})
    if (sameMapping(found.databases, databases)) return told.onSaved()
    const sameAsBefore = sameMapping(found.databases, latest.current.base)
    if (sameAsBefore && revision !== undefined && again) return run({ revision }, false)
    return told.onFaults({ form: MOVED })
  }

  return {
    stage,
    stopWaiting,
    /** `gone`: the endpoint was removed meanwhile, and is added anew. */
    save: (gone: boolean) => run(gone ? { onlyNew: true } : { revision: mapping.revision }, true),
  }
}

const MOVED = 'Somebody changed this endpoint in the meantime. Compare, choose, then save again.'
const NOT_SAVED = 'The connection broke, and it was not saved. Save it again.'

const hasMovedOn = (error: Error) => error instanceof ApiFailure && error.status === 412
