import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { DocumentChange, FeedView } from '../../../server/contract/feed.ts'
import { isSignedOut } from '../../api/client.ts'
import { feedQuery, waitForChanges } from '../../api/feed.ts'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { hasStatus } from '../document-client.ts'
import { pagesKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** Minimum time between two requests for changes, ms: how often the documents are refetched. */
const PAUSE_MS = 1_000

/** Time until the next request after a failure, ms. */
const RETRY_MS = 10_000

/** The last changes of a collection that is followed. */
interface Followed {
  /** The position of the last change; undefined if it is not known. */
  readonly position: string | undefined
  /** The last changes that arrived together; undefined before the first. */
  readonly latest: { readonly documents: number; readonly at: string } | undefined
}

/** Returns what is known after more changes. Each changed document counts once. */
export function addChanges(before: Followed, changes: readonly DocumentChange[]): Followed {
  const last = changes.at(-1)
  if (last === undefined) return before
  const documents = new Set(changes.map(({ id }) => id)).size
  return { position: last.position, latest: { documents, at: last.at } }
}

/** Waits for changes again and again, while the page is visible. */
const changesQuery = (collectionRef: CollectionRef, feed: FeedView | null | undefined) =>
  queryOptions({
    queryKey: [...feedQuery(collectionRef).queryKey, 'changes'],
    queryFn: async ({ signal, client, queryKey }): Promise<Followed> => {
      const before = client.getQueryData<Followed>(queryKey)
      const after = before?.position ?? feed?.last ?? ''
      const known = { position: after, latest: before?.latest }
      // The first request does not wait, so that the page knows from where it follows.
      if (before?.position === undefined) return known
      try {
        return addChanges(known, await waitForChanges(collectionRef, after, signal))
      } catch (error) {
        if (!hasStatus(error, 404, 410)) throw error
        // The feed was turned off, or the position is no longer kept.
        await client.refetchQueries({ queryKey: feedQuery(collectionRef).queryKey, exact: true })
        return { ...known, position: undefined }
      }
    },
    refetchInterval: ({ state: { error } }) =>
      error === null ? PAUSE_MS : isSignedOut(error) ? false : RETRY_MS,
    enabled: feed != null,
    retry: false,
    staleTime: 0,
    gcTime: 0,
    // A request in progress must not be repeated after a gap in the live events.
    meta: { excludeFromReset: true },
  })

/** Refetches the documents of a collection with a feed as they change, and says so. */
export function LiveChanges({ collectionRef }: { collectionRef: CollectionRef }) {
  const { database, collection } = collectionRef
  const queryClient = useQueryClient()
  const { data: feed, isFetchedAfterMount } = useQuery(feedQuery(collectionRef))
  const { data, error } = useQuery(
    changesQuery(collectionRef, isFetchedAfterMount ? feed : undefined),
  )
  const position = data?.position
  useEffect(() => {
    // Also at the first position: the documents may have been read before it.
    if (position === undefined) return
    void queryClient.refetchQueries({
      queryKey: pagesKey({ database, collection }),
      type: 'active',
    })
  }, [queryClient, database, collection, position])
  if (feed == null || data === undefined || error !== null) return null
  const { latest } = data
  return (
    <StateBadge
      state="listening"
      label="Follows changes"
      detail={
        latest && (
          <>
            {latest.documents === 1 ? '1 document' : `${latest.documents} documents`} changed{' '}
            <RelativeTime time={latest.at} />
          </>
        )
      }
    />
  )
}
