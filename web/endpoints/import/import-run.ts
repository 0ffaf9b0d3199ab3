import { type QueryClient, useQuery } from '@tanstack/react-query'
import {
  type EndpointChangeInput,
  type EndpointChangeView,
  MAX_CHANGES,
} from '../../../server/contract/endpoints/endpoint-change.ts'
import { NoResponse } from '../../app/api.ts'
import { createStore, useStore } from '../../shared/ui/store/store.ts'
import { wasOwnChangeMade, watchOutcome } from '../bulk/bulk-outcome.ts'
import { bulkChangesQuery, cancelBulk, startBulk } from '../bulk/bulk-requests.ts'
import { endpointsQuery, listenersQuery } from '../queries.ts'
import { orderChanges } from './import-order.ts'
import type { ImportChange } from './import-plan.ts'

/** How an import ended. */
export type ImportEnd =
  | { readonly by: 'all' }
  | { readonly by: 'cancel' }
  /** The import disconnected this page. The outcome is visible through another endpoint. */
  | { readonly by: 'disconnection' }
  /**
   * The server rejected the import or is unreachable, or the user may no longer change endpoints.
   */
  | { readonly by: 'interruption'; readonly error: Error }

/** A running or finished import. */
export interface ImportRun {
  /** The id of the bulk change; undefined until the server has responded. */
  readonly id: string | undefined
  readonly total: number
  /** Number of endpoints that match the file. */
  readonly made: number
  readonly failed: number
  /**
   * Reasons of the failures by address, set once the import has ended; undefined if they could not
   * be read.
   */
  readonly failures: ReadonlyMap<string, string> | undefined
  readonly cancelling: boolean
  /** Whether the endpoint that serves this page was changed, as far as is known. */
  readonly ownChanged: boolean
  /** `undefined` while the import runs. */
  readonly end: ImportEnd | undefined
  /** Whether the configuration was refetched after the import, so that it can be compared. */
  readonly compared: boolean
}

type Kept = Omit<ImportRun, 'made' | 'failed'> & { readonly view: EndpointChangeView | undefined }

const run = createStore<Kept | undefined>(undefined)

function change(part: Partial<Kept>): void {
  const current = run.get()
  if (current !== undefined) run.set({ ...current, ...part })
}

/** Returns the import of this page, if there is one. */
export function useImportRun(): ImportRun | undefined {
  const stored = useStore(run)
  const { data } = useQuery(bulkChangesQuery)
  if (stored === undefined) return undefined
  return toRun(stored, stored.view ?? data?.find(({ id }) => id === stored.id))
}

const toRun = ({ view: _, ...kept }: Kept, view: EndpointChangeView | undefined): ImportRun => ({
  ...kept,
  made: (view?.made ?? 0) + (view?.unchanged ?? 0),
  failed: view?.failed ?? 0,
})

/**
 * Starts an import; resolves with its outcome once it has ended. Resolves with undefined if another
 * import is running.
 */
export async function startImport(
  changes: readonly ImportChange[],
  options: {
    readonly queryClient: QueryClient
    /** Address of the endpoint that serves this page. */
    readonly here: string
    readonly removeAnyway: boolean
    /** Called with the id once the server has accepted the import. */
    readonly onStarted: (id: string) => void
  },
): Promise<ImportRun | undefined> {
  const current = run.get()
  if (current !== undefined && current.end === undefined) return undefined
  const { queryClient, here, removeAnyway, onStarted } = options
  begin(undefined, changes.length)
  try {
    requireMaxChanges(changes)
    const inputs = orderChanges(changes, here).map(toInput)
    const { id } = await startBulk(queryClient, inputs, !removeAnyway)
    change({ id })
    onStarted(id)
    if (run.get()?.cancelling) void cancelOnServer(queryClient, id)
    const own = changes.find(({ address }) => address === here)
    return await finish(queryClient, id, own)
  } catch (error) {
    return end(queryClient, undefined, { by: 'interruption', error: error as Error })
  }
}

/**
 * Follows a running import that was started before the page was reloaded; resolves with its outcome
 * once it has ended. Resolves with undefined if it is not running.
 */
export async function resumeImport(
  queryClient: QueryClient,
  id: string,
): Promise<ImportRun | undefined> {
  if (run.get() !== undefined) return undefined
  const list = await queryClient.ensureQueryData(bulkChangesQuery).catch(() => [])
  const view = list.find((each) => each.id === id)
  if (view === undefined || view.state !== 'running' || run.get() !== undefined) {
    return undefined
  }
  begin(id, view.total)
  return finish(queryClient, id, undefined)
}

const begin = (id: string | undefined, total: number) =>
  run.set({
    id,
    total,
    view: undefined,
    failures: new Map(),
    cancelling: false,
    ownChanged: false,
    end: undefined,
    compared: false,
  })

async function finish(
  queryClient: QueryClient,
  id: string,
  own: ImportChange | undefined,
): Promise<ImportRun | undefined> {
  const isOwn = own !== undefined
  const outcome = await watchOutcome(queryClient, id, { orUnreachable: isOwn })
  const { view, failures } = outcome
  change({ failures, ownChanged: isOwn && wasOwnChangeMade(outcome, own) })
  return end(queryClient, view, endOf(view, isOwn))
}

function endOf(view: EndpointChangeView | undefined, isOwn: boolean): ImportEnd {
  if (view === undefined) {
    if (isOwn) return { by: 'disconnection' }
    return { by: 'interruption', error: new NoResponse(undefined) }
  }
  if (view.state === 'cancelled') return { by: 'cancel' }
  if (view.state === 'done') return { by: 'all' }
  const error = new Error(
    'The import stopped, because you no longer have permission to change endpoints.',
  )
  return { by: 'interruption', error }
}

async function end(
  queryClient: QueryClient,
  view: EndpointChangeView | undefined,
  how: ImportEnd,
): Promise<ImportRun | undefined> {
  const compared = await refetchConfiguration(queryClient)
  change({ view, end: how, compared })
  const current = run.get()
  return current && toRun(current, view)
}

function requireMaxChanges(changes: readonly ImportChange[]): void {
  if (changes.length <= MAX_CHANGES) return
  throw new Error('An import can make at most 10,000 changes. Split the file.')
}

/** Returns the request for a change, conditional on the compared state of the endpoint. */
function toInput({ kind, address, after, revision }: ImportChange): EndpointChangeInput {
  if (kind !== 'added' && revision === undefined) {
    throw new Error(`The state of ${address} is not known yet. Try again.`)
  }
  const expect = kind === 'added' ? null : revision
  return after === null
    ? { endpoint: address, remove: true, expect }
    : { endpoint: address, databases: [...after], expect }
}

/** Cancels the import. Changes already applied stay. */
export async function cancelImport(queryClient: QueryClient): Promise<void> {
  const current = run.get()
  if (current === undefined || current.cancelling) return
  change({ cancelling: true })
  const { id } = current
  // Without an id, `startImport` cancels the import once the server has responded.
  if (id !== undefined) await cancelOnServer(queryClient, id)
}

async function cancelOnServer(queryClient: QueryClient, id: string): Promise<void> {
  await cancelBulk(queryClient, id).catch(() => change({ cancelling: false }))
}

/** Refetches the configuration to compare it with the file again. */
export async function refreshPreview(queryClient: QueryClient): Promise<void> {
  if (await refetchConfiguration(queryClient)) change({ compared: true })
}

/** Discards the outcome of the last import. */
export const clearImport = (): void => run.set(undefined)

const refetchConfiguration = (queryClient: QueryClient): Promise<boolean> =>
  Promise.all([
    queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...listenersQuery, staleTime: 0 }),
  ]).then(
    () => true,
    () => false,
  )
