import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { feedQuery } from '../../api/feed.ts'
import { useFollow } from '../../api/live/live-provider.tsx'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { pagesKey } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'

/** What the page knows of a feed that it follows. */
interface Followed {
  readonly position: string
  /** The last changes that arrived together. */
  readonly latest?: { readonly changes: number; readonly at: string } | undefined
}

/** Refetches the documents of a collection with a feed as they change, and says so. */
export function LiveChanges({ collectionRef }: { collectionRef: CollectionRef }) {
  const name = formatCollection(collectionRef)
  const feed = feedQuery(collectionRef)
  const queryClient = useQueryClient()
  const { data } = useQuery(feed)
  /** Null: the stream no longer follows the feed. */
  const [followed, setFollowed] = useState<Followed | null>()
  const isOn = data != null && followed !== null
  useFollow(isOn ? new URLSearchParams({ feed: name }).toString() : undefined, (event) => {
    if (event.type !== 'feed' || event.feed !== name) return
    const { position, changes } = event
    if (position === null) {
      setFollowed(null)
      // It may be on again.
      void queryClient.refetchQueries(feed).then(() => setFollowed(undefined))
      return
    }
    // Also at the first position: the documents may have been read before it.
    if (position !== followed?.position) {
      void queryClient.refetchQueries({ queryKey: pagesKey(collectionRef), type: 'active' })
    }
    const latest = changes > 0 ? { changes, at: new Date().toISOString() } : followed?.latest
    setFollowed({ position, latest })
  })
  if (!isOn || followed === undefined) return null
  const { latest } = followed
  return (
    <StateBadge
      state="listening"
      label="Follows changes"
      detail={
        latest && (
          <>
            {latest.changes === 1 ? '1 change' : `${formatCount(latest.changes)} changes`}{' '}
            <RelativeTime time={latest.at} />
          </>
        )
      }
    />
  )
}
