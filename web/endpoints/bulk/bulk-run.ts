import type { QueryClient } from '@tanstack/react-query'
import { CHANGE_ID_HEADER } from '../../../server/contract/endpoints/endpoint.ts'
import type {
  EndpointChangeInput,
  EndpointChangeOutcome,
} from '../../../server/contract/endpoints/endpoint-change.ts'
import { api, awaitResponse, requireOk } from '../../api/client.ts'
import { endpointsQuery } from '../../api/queries.ts'
import { listenersQuery, refetchPolicies } from '../queries.ts'
import { type BulkRun, bulkStore } from './bulk-store.ts'

let abort = new AbortController()

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

/** Where a bulk change is shown. Default: in the bar, whose Cancel stops it. */
export interface BulkControl {
  readonly signal: AbortSignal
  readonly onChange: (run: BulkRun) => void
}

export interface BulkOptions {
  /** Endpoints that need no change. */
  readonly done?: readonly string[]
  /** Whether no endpoint is removed after another change failed. */
  readonly keepOnFailure?: boolean
  readonly control?: BulkControl
}

/**
 * Begins a bulk change, which stops when the page is closed. Resolves once the server has begun.
 * Throws `ApiFailure`, or `NoResponse` if changes may have been made.
 *
 * @returns the promise of its end, which does not reject.
 */
export function startBulk(
  queryClient: QueryClient,
  changes: EndpointChangeInput[],
  { done = [], keepOnFailure = false, control }: BulkOptions,
): Promise<{ readonly ended: Promise<BulkRun> }> {
  const json = { changes, keepOnFailure }
  const removals = changes.filter((change) => 'remove' in change).length
  const options = { kind: 'change', total: changes.length, removals, done } as const
  return begin(
    queryClient,
    options,
    (request) => api._api['endpoint-change'].$post({ json }, request),
    control,
  )
}

/** Undoes a bulk change by another one. Resolves and throws as {@link startBulk} does. */
export const undoBulk = (queryClient: QueryClient, { id, made }: BulkRun) =>
  begin(queryClient, { kind: 'undo', total: made, removals: 0, done: [] }, (request) =>
    api._api['endpoint-change'][':id'].undo.$post({ param: { id } }, request),
  )

interface RequestOptions {
  readonly headers: Record<string, string>
  readonly init: RequestInit
}

async function begin(
  queryClient: QueryClient,
  options: Pick<BulkRun, 'kind' | 'total' | 'removals' | 'done'>,
  send: (options: RequestOptions) => Promise<Response>,
  control?: BulkControl,
) {
  const aborting = new AbortController()
  const { signal, onChange } = control ?? { signal: aborting.signal, onChange: showInBar }
  const headers = { Accept: 'application/x-ndjson' }
  const response = await requireOk(send({ headers, init: { signal } }))
  const id = response.headers.get(CHANGE_ID_HEADER) ?? ''
  const counts = { made: 0, unchanged: 0, failures: [] }
  const begun = { ...options, id, ...counts, end: undefined, isRefetched: false }
  if (control === undefined) {
    abort = aborting
    bulkStore.set(begun)
  }
  return { ended: finish(queryClient, begun, response, { signal, onChange }) }
}

function showInBar(next: BulkRun): void {
  // Another one may have begun since.
  if (bulkStore.get()?.id === next.id) bulkStore.set(next)
}

async function finish(
  queryClient: QueryClient,
  begun: BulkRun,
  response: Response,
  { signal, onChange }: BulkControl,
): Promise<BulkRun> {
  let now = begun
  const update = (changes: Partial<BulkRun>) => {
    now = { ...now, ...changes }
    onChange(now)
  }
  try {
    await awaitResponse(readOutcomes(response, (outcomes) => update(addOutcomes(now, outcomes))))
    update({ end: 'completed' })
  } catch (error) {
    update({ end: signal.aborted ? 'cancelled' : (error as Error) })
  }
  // Live events may have been lost among many changes.
  await refetchConfiguration(queryClient)
  update({ isRefetched: true })
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

/** Refetches the endpoints, if that succeeds. */
const refetchConfiguration = (queryClient: QueryClient): Promise<unknown> =>
  Promise.allSettled([
    queryClient.fetchQuery({ ...endpointsQuery, staleTime: 0 }),
    queryClient.fetchQuery({ ...listenersQuery, staleTime: 0 }),
    refetchPolicies(queryClient),
  ])
