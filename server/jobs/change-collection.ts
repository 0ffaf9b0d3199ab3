import { CHANGE_BYTES, CHANGE_ROWS } from '../contract/document.ts'
import type { CollectionSearch } from '../documents/collections/collection-search.ts'
import type { Filter } from '../documents/query/filter.ts'
import type {
  ChangeDocuments,
  StateChange,
} from '../documents/repository/writes/change-documents.ts'
import { Failure } from '../failure.ts'
import { SchemaChanged } from '../storage/current-schema.ts'
import { type CollectionRef, StateChanged, TooManyRows } from '../storage/document-ref.ts'
import { fieldsOf, type Scan, type ScanTarget } from './scan.ts'

/** How often a change is computed again because documents or their schema have changed. */
const ATTEMPTS = 5

export interface ChangeCollectionDeps {
  readonly scan: Scan
  readonly search: Pick<CollectionSearch, 'connected' | 'run' | 'select'>
  readonly changeDocuments: ChangeDocuments
  /** Awaited between two steps, so that other requests can run. */
  readonly pause: () => Promise<unknown>
}

/** A change of the documents of a collection that match a filter. */
export interface CollectionChange {
  readonly where: CollectionRef
  readonly kind: 'patch' | 'delete'
  readonly request: { readonly filter: Filter; readonly patch?: string }
}

/**
 * Changes the documents that match, all or none, in one transaction. Returns their number, or
 * undefined if they are too many for one transaction (`CHANGE_ROWS`, `CHANGE_BYTES`).
 *
 * @param signal if the client disconnects before the transaction, nothing is changed.
 * @throws Failure `invalid`, `too-large` or `conflict` of a document; `busy`; `query-too-expensive`
 */
export type ChangeCollection = (
  change: CollectionChange,
  signal: AbortSignal,
) => Promise<number | undefined>

export function createChangeCollection(deps: ChangeCollectionDeps): ChangeCollection {
  const { scan, search, changeDocuments, pause } = deps

  /** Returns the changes, or undefined if they are too many. */
  async function prepare({ where, kind, request }: CollectionChange, signal: AbortSignal) {
    const { filter } = request
    const changes: StateChange[] = []
    let bytes = 0
    let schema: string | null | undefined
    // Not limited like a scan: whether an index serves the filter is only known afterwards.
    const ids = await search.select(where, filter, search.connected(signal))
    const unserved = filter.length > 0 && ids === undefined ? filter : undefined
    let isComplete = false
    await search.run(signal, unserved, async (step) => {
      let cursor: string | null = null
      for (;;) {
        const target: ScanTarget = { ...where, kind, request, cursor }
        const next = await step(() => scan(target, ids))
        if (next === undefined) {
          isComplete = true
          return
        }
        const [rejected] = next.rejected
        if (rejected !== undefined) throw rejected.failure
        // The transaction checks the last of them: an earlier one is too old then.
        if (schema !== undefined && next.schema !== undefined && next.schema !== schema) {
          throw new SchemaChanged()
        }
        if (next.schema !== undefined) schema = next.schema
        changes.push(...next.changes)
        for (const { body, next: after = '' } of next.changes) bytes += body.length + after.length
        if (changes.length > CHANGE_ROWS || bytes > CHANGE_BYTES) return
        cursor = next.cursor
        await pause()
      }
    })
    return isComplete ? { changes, schema } : undefined
  }

  return async (change, signal) => {
    const fields = fieldsOf(change.request.patch)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const prepared = await prepare(change, signal)
        if (prepared === undefined) return undefined
        const { changes, schema } = prepared
        const results = await changeDocuments(change.where, changes, {
          all: true,
          ...(schema !== undefined && { schema }),
          ...(fields && { fields }),
        })
        return results.length
      } catch (error) {
        if (error instanceof TooManyRows) return undefined
        if (!(error instanceof StateChanged || error instanceof SchemaChanged)) throw error
      }
    }
    throw new Failure(
      'busy',
      'The documents or their schema keep changing. Nothing was changed. Try again.',
    )
  }
}
