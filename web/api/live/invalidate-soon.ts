import type { Query, QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../../server/contract/event.ts'

/** Events within this window, in milliseconds, are batched into one refetch. */
const GATHER_MS = 100

/** Maximum time, in milliseconds, that a batch waits for the refetch of the previous batch. */
const MAX_WAIT_MS = 5_000

/**
 * Maximum names in a partial refetch, limited by the URL length. With more, the list is refetched.
 */
const MAX_NAMES = 100

/** The type of an event; `attention` follows most of them. */
type EventType = LiveEvent['type'] | 'attention'

/**
 * Returns a batcher that invalidates queries after live events. The first part of a query key is
 * the type of the event that invalidates the query. A query with `meta.refetchEndpoints` refetches
 * only the named endpoints. A `reset` event invalidates every query except those with
 * `meta.excludeFromReset`. `note` records an event; `stop` discards pending and later events.
 */
export function invalidateSoon(queryClient: QueryClient) {
  let names = new Map<EventType, Set<string>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  const collect = (type: EventType, name?: string) => {
    const collected = names.get(type) ?? new Set()
    if (name !== undefined) collected.add(name)
    names.set(type, collected)
  }

  const flush = async () => {
    const gathered = names
    names = new Map()
    const reading = gathered.has('reset')
      ? Promise.all(
          queryClient
            .getQueryCache()
            .findAll({ predicate: isLive })
            .map((query) => refetch(queryClient, query)),
        )
      : Promise.all([...gathered].map(([type, some]) => invalidate(queryClient, type, [...some])))
    // Keep responses in order: a slow refetch must not overwrite the result of a later one.
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))])
    timer = undefined
    if (names.size > 0 && !stopped) timer = setTimeout(flush, GATHER_MS)
  }

  return {
    note: (event: LiveEvent) => {
      if (stopped) return
      const name = 'endpoint' in event ? event.endpoint : 'name' in event ? event.name : undefined
      collect(event.type, name)
      // Listeners store the revision of their endpoint, so they change with it.
      if (event.type === 'endpoint') collect('listener', name)
      // Certificates list the endpoints that use them.
      if (event.type === 'endpoint') collect('certificate')
      if (event.type !== 'audit' && event.type !== 'index') collect('attention')
      timer ??= setTimeout(flush, GATHER_MS)
    },
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}

async function invalidate(queryClient: QueryClient, type: string, names: readonly string[]) {
  const queries = queryClient.getQueryCache().findAll({ queryKey: [type] })
  await Promise.all(
    queries.map(async (query) => {
      const refetchEndpoints = query.meta?.refetchEndpoints
      const isPartial =
        refetchEndpoints !== undefined && canMerge(query) && names.length <= MAX_NAMES
      const done = isPartial && (await refetchEndpoints(queryClient, names).then(yes, no))
      if (!done) await refetch(queryClient, query)
    }),
  )
}

/**
 * Invalidates a query. A fetch in progress may have read an older state. TanStack Query replaces it
 * if the query is observed and has data; otherwise the query is invalidated again after it, except
 * with `meta.excludeFromReset`.
 */
async function refetch(queryClient: QueryClient, query: Query): Promise<void> {
  const isReplaced = query.isActive() && query.state.data !== undefined
  const fetching = isReplaced || query.meta?.excludeFromReset ? undefined : query.promise
  const invalidate = () => queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })
  await invalidate()
  await fetching?.then(invalidate, () => {})
}

/**
 * Selects queries to invalidate on a reset. A query with `excludeFromReset` qualifies only while it
 * has no data.
 */
const isLive = ({ meta, state }: Query) =>
  meta?.excludeFromReset !== true || state.data === undefined

/** Whether the query is observed and idle. A full fetch in progress may return older data. */
const canMerge = (query: Query) => query.isActive() && query.state.fetchStatus === 'idle'

const yes = () => true
const no = () => false
