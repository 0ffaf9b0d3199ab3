import { type QueryClient, QueryObserver, queryOptions } from '@tanstack/react-query'
import {
  type EndpointChangeFailure,
  type EndpointChangeInput,
  type EndpointChangeView,
  FAILURES_PAGE,
} from '../../../server/contract/endpoints/endpoint-change.ts'
import { api, isSignedOut, readJson } from '../../app/api.ts'
import { trackBulk } from './tracked-bulk.ts'

/** Polling interval for the progress of a bulk change, ms; live events refetch it sooner. */
const PROGRESS_MS = 1_000

/** The recent bulk changes, newest first. */
export const bulkChangesQuery = queryOptions({
  queryKey: ['endpoint-change'],
  queryFn: ({ signal }) => readJson(api._api['endpoint-change'].$get({}, { init: { signal } })),
  refetchInterval: ({ state }) =>
    !isSignedOut(state.error) && state.data?.some(isRunning) ? PROGRESS_MS : false,
})

/** The failures of a finished bulk change. */
export const bulkFailuresQuery = (id: string) =>
  queryOptions({
    queryKey: ['bulk-failures', id],
    queryFn: ({ signal }) => readFailures(id, signal),
    gcTime: 0,
  })

export const isRunning = ({ state }: EndpointChangeView): boolean => state === 'running'

/** Starts a bulk change. Throws `ApiFailure`, or `NoResponse` if it may have started. */
export async function startBulk(
  queryClient: QueryClient,
  changes: EndpointChangeInput[],
  keepOnFailure = false,
): Promise<EndpointChangeView> {
  const json = { changes, keepOnFailure }
  return follow(queryClient, await readJson(api._api['endpoint-change'].$post({ json })))
}

/** Starts the undo of a bulk change. Throws as {@link startBulk} does. */
export async function undoBulk(queryClient: QueryClient, id: string): Promise<EndpointChangeView> {
  const param = { id }
  return follow(
    queryClient,
    await readJson(api._api['endpoint-change'][':id'].undo.$post({ param })),
  )
}

/** Cancels a bulk change. Changes already applied stay. */
export async function cancelBulk(queryClient: QueryClient, id: string): Promise<void> {
  const param = { id }
  await follow(queryClient, await readJson(api._api['endpoint-change'][':id'].$delete({ param })))
}

/**
 * Resolves with a bulk change once it has ended. Resolves with undefined if the server does not
 * list it, or if `orUnreachable` is set and the list cannot be read. Without `orUnreachable`, it
 * waits until the server is reachable again.
 */
export function watchBulk(
  queryClient: QueryClient,
  id: string,
  { orUnreachable = false } = {},
): Promise<EndpointChangeView | undefined> {
  return new Promise((resolve) => {
    const observer = new QueryObserver(queryClient, bulkChangesQuery)
    const look = () => {
      const { data, error } = observer.getCurrentResult()
      const view = data?.find((each) => each.id === id)
      const gaveUp = orUnreachable && error !== null
      if (!gaveUp && (data === undefined || (view !== undefined && isRunning(view)))) return
      // Deferred, because `subscribe` may call `look` before it returns `unsubscribe`.
      queueMicrotask(() => unsubscribe())
      resolve(gaveUp ? undefined : view)
    }
    const unsubscribe = observer.subscribe(look)
    look()
  })
}

/** Returns all failures of a bulk change, at most 10,000. */
export async function readFailures(
  id: string,
  signal?: AbortSignal,
): Promise<EndpointChangeFailure[]> {
  const init = signal === undefined ? {} : { signal }
  const failures: EndpointChangeFailure[] = []
  let after: number | null | undefined
  do {
    const query = {
      limit: `${FAILURES_PAGE}`,
      ...(after === undefined ? {} : { after: `${after}` }),
    }
    const page = await readJson(
      api._api['endpoint-change'][':id'].$get({ param: { id }, query }, { init }),
    )
    failures.push(...page.failures)
    after = page.next
  } while (after !== null)
  return failures
}

/** Adds a bulk change to the cache and shows it without waiting for a refetch. */
async function follow(
  queryClient: QueryClient,
  view: EndpointChangeView,
): Promise<EndpointChangeView> {
  await queryClient.cancelQueries({ queryKey: bulkChangesQuery.queryKey })
  queryClient.setQueryData(bulkChangesQuery.queryKey, (list: EndpointChangeView[] = []) => [
    ...(list.some(({ id }) => id === view.id) ? [] : [view]),
    ...list.map((each) => (each.id === view.id ? view : each)),
  ])
  trackBulk(view.id)
  return view
}
