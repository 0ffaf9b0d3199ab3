import type { QueryClient } from '@tanstack/react-query'
import {
  CHANGE_ID_HEADER,
  type EndpointChangeInput,
  type EndpointChangeOutcome,
} from '../../../server/contract/endpoints/endpoint-change.ts'
import { api, awaitResponse, requireOk } from '../../app/api.ts'
import { createStore, useStore } from '../../shared/ui/store/store.ts'
import { endpointsQuery, listenersQuery } from '../queries.ts'

export interface BulkFailure {
  readonly endpoint: string
  readonly reason: string
}

/** A running or finished bulk change of this page. */
export interface BulkRun {
  readonly id: string
  readonly kind: 'change' | 'import' | 'undo'
  readonly total: number
  /** How many of the changes are removals. */
  readonly removals: number
  readonly made: number
  readonly unchanged: number
  readonly failures: readonly BulkFailure[]
  /** The endpoints that are as requested. */
  readonly done: readonly string[]
  /** How it ended; undefined while it runs. The error of an interruption is for users. */
  readonly end: 'completed' | 'cancelled' | Error | undefined
  /** Whether the endpoints were refetched after the end; undefined before. */
  readonly refetched: boolean | undefined
}

export interface BulkOptions {
  readonly kind: BulkRun['kind']
  readonly total: number
  readonly removals?: number
  /** Endpoints that need no change. */
  readonly done?: readonly string[]
}

const run = createStore<BulkRun | undefined>(undefined)
let abort = new AbortController()

/** Returns the last bulk change of this page that was not dismissed. */
export const useBulkRun = (): BulkRun | undefined => useStore(run)

const importShown = createStore(false)

/** Whether the content of the page shows an import, instead of the bar and the toast. */
export const isImportShown = importShown.get
export const useImportShown = (): boolean => useStore(importShown)

/** Shows an import in the content of the page. Returns a function that ends it. */
export function showImportOnPage(): () => void {
  importShown.set(true)
  return () => importShown.set(false)
}

export const dismissBulk = (): void => run.set(undefined)

/** Stops a bulk change by disconnecting. Changes already made stay. */
export const cancelBulk = (): void => abort.abort()

/** Returns whether there may be changes to undo. */
export const canUndoBulk = ({ kind, made, end }: BulkRun): boolean =>
  kind !== 'undo' && (made > 0 || end !== 'completed')

/** Returns the number of changes with an outcome. */
export const countOutcomes = ({ made, unchanged, failures }: BulkRun): number =>
  made + unchanged + failures.length

/**
 * Returns whether a bulk change has changed the endpoint of this page, as far as is known: the change
 * may have broken the connection.
 */
export const hasChangedOwn = ({ done, end, failures }: BulkRun, here: string): boolean =>
  done.includes(here) ||
  (end instanceof Error && !failures.some(({ endpoint }) => endpoint === here))

/**
 * Begins a bulk change, which stops when the page is closed. Resolves once the server has begun.
 * Throws `ApiFailure`, or `NoResponse` if changes may have been made.
 *
 * @returns the promise of its end, which does not reject.
 */
export function startBulk(
  queryClient: QueryClient,
  changes: EndpointChangeInput[],
  options: BulkOptions & { readonly keepOnFailure?: boolean },
): Promise<{ readonly ended: Promise<BulkRun> }> {
  const { keepOnFailure = false } = options
  const json = { changes, keepOnFailure }
  const removals = changes.filter((change) => 'remove' in change).length
  return begin(queryClient, { ...options, removals }, (request) =>
    api._api['endpoint-change'].$post({ json }, request),
  )
}

/** Undoes a bulk change by another one. Resolves and throws as {@link startBulk} does. */
export const undoBulk = (queryClient: QueryClient, { id, made }: BulkRun) =>
  begin(queryClient, { kind: 'undo', total: made }, (request) =>
    api._api['endpoint-change'][':id'].undo.$post({ param: { id } }, request),
  )

interface RequestOptions {
  readonly headers: Record<string, string>
  readonly init: RequestInit
}

async function begin(
  queryClient: QueryClient,
  { kind, total, removals = 0, done = [] }: BulkOptions,
  send: (options: RequestOptions) => Promise<Response>,
) {
  const aborting = new AbortController()
  const { signal } = aborting
  const headers = { Accept: 'application/x-ndjson' }
  const response = await requireOk(send({ headers, init: { signal } }))
  abort = aborting
  const id = response.headers.get(CHANGE_ID_HEADER) ?? ''
  const counts = { made: 0, unchanged: 0, failures: [] }
  const begun = { id, kind, total, removals, done, ...counts, end: undefined, refetched: undefined }
  run.set(begun)
  return { ended: finish(queryClient, begun, response, signal) }
}

async function finish(
  queryClient: QueryClient,
  begun: BulkRun,
  response: Response,
  signal: AbortSignal,
): Promise<BulkRun> {
  let now = begun
  const change = (part: Partial<BulkRun>) => {
    // It may have been dismissed.
    const isShown = run.get() === now
    now = { ...now, ...part }
    if (isShown) run.set(now)
  }
  try {
    await awaitResponse(readOutcomes(response, (outcomes) => change(addOutcomes(now, outcomes))))
    change({ end: 'completed' })
  } catch (error) {
    change({ end: signal.aborted ? 'cancelled' : (error as Error) })
  }
  // Live events may have been lost among many changes.
  change({ refetched: await refetchConfiguration(queryClient) })
  return now
}

async function readOutcomes(
  response: Response,
  onOutcomes: (outcomes: readonly EndpointChangeOutcome[]) => void,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || value === undefined) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) onOutcomes(lines.map((line) => JSON.parse(line)))
  }
}

function addOutcomes(run: BulkRun, outcomes: readonly EndpointChangeOutcome[]): Partial<BulkRun> {
  const failures = [...run.failures]
  const done = [...run.done]
  let { made, unchanged } = run
  for (const outcome of outcomes) {
    const { endpoint } = outcome
    if (outcome.state === 'failed') failures.push({ endpoint, reason: outcome.errorMessage })
    else {
      done.push(endpoint)
      if (outcome.state === 'made') made++
      else unchanged++
    }
  }
  // A cancelled bulk change may have made more changes than this page knows.
  const total = Math.max(run.total, made + unchanged + failures.length)
  return { made, unchanged, failures, done, total }
}

/** Refetches the endpoints. Returns whether that succeeded. */
const refetchConfiguration = (queryClient: QueryClient): Promise<boolean> =>
  Promise.all([
    queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...listenersQuery, staleTime: 0 }),
  ]).then(
    () => true,
    () => false,
  )

/** Refetches the endpoints if that failed after the last bulk change. */
export async function refetchAgain(queryClient: QueryClient): Promise<void> {
  const current = run.get()
  const refetched = await refetchConfiguration(queryClient)
  if (current !== undefined && current === run.get()) run.set({ ...current, refetched })
}
