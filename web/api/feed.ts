import { queryOptions } from '@tanstack/react-query'
import { COLLECTION_PARAMETER } from '../../server/contract/document.ts'
import type { FeedView } from '../../server/contract/feed.ts'
import { databaseApi, readJson } from './client.ts'

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
      const feeds = await readJson(
        databaseApi(followed.database)._feed.$get({}, { init: { signal } }),
      )
      return feeds.find(({ collection }) => collection === followed.collection) ?? null
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
