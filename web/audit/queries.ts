import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'
import { fillPage } from '../shared/changes/fill-page.ts'
import { type ActivitySearch, toAuditQuery } from './activity-search.ts'

// The log is fetched when the page opens. Live events only refetch the count of newer rows, so that
// rows never move on their own. The log therefore has a key that matches no event type.

/** Poll interval for newer rows in milliseconds, in case an event is missed. */
const POLL_MS = 60_000

/** Rows per page. */
const PAGE = 50

/** The log in pages, newest first. */
export const activityQuery = (search: ActivitySearch) =>
  infiniteQueryOptions({
    queryKey: ['activity', toAuditQuery(search)],
    queryFn: ({ signal, pageParam }) =>
      fillPage(PAGE, pageParam, (before, limit) =>
        readJson(
          api._api.audit.$get(
            {
              query: {
                ...toAuditQuery(search),
                limit: `${limit}`,
                ...(before === undefined ? {} : { before: `${before}` }),
              },
            },
            { init: { signal } },
          ),
        ),
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // Reopening the page starts with the first page instead of all loaded pages.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { excludeFromReset: true },
  })

/** The newest rows, to count those that are not shown yet. */
export const newestQuery = (search: ActivitySearch) =>
  queryOptions({
    queryKey: ['audit', toAuditQuery(search), 'newest'],
    queryFn: ({ signal }) =>
      readJson(
        api._api.audit.$get(
          { query: { ...toAuditQuery(search), limit: `${PAGE}` } },
          { init: { signal } },
        ),
      ),
    gcTime: 0,
    staleTime: 0,
    refetchInterval: pollWhileSignedIn(POLL_MS),
  })
