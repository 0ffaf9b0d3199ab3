import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api, whileSignedIn } from '../api.ts'
import { type ActivitySearch, toAuditQuery } from './activity-search.ts'
import { fillPage } from './fill-page.ts'

// The log is read when the page is opened; a live event tells to look for what is newer. Rows never
// push others away by themselves: hence a key of its own, which no event has.

/** How often it is looked whether there is something newer, should no event come, in milliseconds. */
const LOOK_MS = 60_000

/** How many rows a page has. */
const PAGE = 50

/** The log, newest first, page by page. */
export const activityQuery = (search: ActivitySearch) =>
  infiniteQueryOptions({
    queryKey: ['activity', toAuditQuery(search)],
    queryFn: ({ signal, pageParam }) =>
      fillPage(PAGE, pageParam, (before, limit) =>
        answer(
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
    // A page that is opened anew begins anew, not with all that was once loaded.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    meta: { standsStill: true },
  })

/** The newest rows, to tell how many are newer than those that are shown. */
export const newestQuery = (search: ActivitySearch) =>
  queryOptions({
    queryKey: ['audit', toAuditQuery(search), 'newest'],
    queryFn: ({ signal }) =>
      answer(
        api._api.audit.$get(
          { query: { ...toAuditQuery(search), limit: `${PAGE}` } },
          { init: { signal } },
        ),
      ),
    gcTime: 0,
    staleTime: 0,
    refetchInterval: whileSignedIn(LOOK_MS),
  })
