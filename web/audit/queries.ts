import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AuditPage } from '../../server/contract/audit.ts'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'
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

/** Maximum requests to fill one page. The user can then request older rows. */
export const MAX_REQUESTS = 10

/**
 * Fetches a page of the log, with several requests if needed. The server ends a page early after
 * scanning many rows, and returns where to continue.
 *
 * @param size number of entries in a full page: rows and bulk changes.
 * @param read fetches up to `limit` rows with sequence numbers below `before`, or the newest rows
 *   if it is undefined.
 */
export async function fillPage(
  size: number,
  before: number | undefined,
  read: (before: number | undefined, limit: number) => Promise<AuditPage>,
): Promise<AuditPage> {
  let page = await read(before, size)
  for (let requests = 1; requests < MAX_REQUESTS; requests++) {
    const { rows, next } = page
    if (next === null || entriesOf(rows) >= size) break
    const more = await read(next, size - entriesOf(rows))
    page = { rows: [...rows, ...more.rows], next: more.next }
  }
  return page
}

/** Returns how many entries rows are. All rows of a bulk change are one. */
const entriesOf = (rows: AuditPage['rows']): number =>
  new Set(rows.map(({ change, seq }) => change ?? seq)).size
