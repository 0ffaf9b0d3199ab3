import { queryOptions } from '@tanstack/react-query'
import { COLLECTION_PARAMETER } from '../../server/contract/document.ts'
import type { DocumentChange, FeedView } from '../../server/contract/feed.ts'
import { ApiFailure, databaseApi, readJson } from './client.ts'

/** A collection, which may have a feed. */
interface Followed {
  readonly database: string
  readonly collection: string
}

/** Returns the routes of the feed of a collection, and the parameters of their paths. */
function feedClient({ database, collection }: Followed) {
  return {
    feed: databaseApi(database)._feed[COLLECTION_PARAMETER],
    param: { collection: encodeURIComponent(collection) },
  }
}

/** The feed of a collection; null if it has none. Feeds have no live events. */
export const feedQuery = (followed: Followed) =>
  queryOptions({
    queryKey: ['feed', followed.database, followed.collection],
    queryFn: async ({ signal }): Promise<FeedView | null> => {
      const { feed, param } = feedClient(followed)
      try {
        return await readJson(feed.$get({ param }, { init: { signal } }))
      } catch (error) {
        if (error instanceof ApiFailure && error.status === 404 && error.id === 'not_found') {
          return null
        }
        throw error
      }
    },
    staleTime: 0,
    refetchOnWindowFocus: true,
  })

/** Turns the feed of a collection on, or changes how long it keeps changes, such as `7d`. */
export function setFeed(followed: Followed, retain?: string): Promise<FeedView> {
  const { feed, param } = feedClient(followed)
  return readJson(feed.$put({ param, json: retain === undefined ? {} : { retain } }))
}

/** Turns the feed of a collection off. */
export async function removeFeed(followed: Followed): Promise<void> {
  const { feed, param } = feedClient(followed)
  await readJson(feed.$delete({ param }))
}

/** How long a request waits for the next change, s. Less than the timeout of requests. */
const WAIT = 10

/** Resolves with the changes after a position; with none if there were none for some seconds. */
export function waitForChanges(
  followed: Followed,
  after: string,
  signal: AbortSignal,
): Promise<readonly DocumentChange[]> {
  const { feed, param } = feedClient(followed)
  const request = { param, query: { after, limit: '1000' } }
  const headers = { Prefer: `wait=${WAIT}` }
  return readJson(feed.changes.$get(request, { headers, init: { signal } })) as Promise<
    DocumentChange[]
  >
}
