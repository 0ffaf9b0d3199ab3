import { inScope } from '../contract/access/scope.ts'
import type { FollowedEvent } from '../contract/event.ts'
import type { StreamPart } from '../events/stream-part.ts'
import { isStoreFailure } from '../failure.ts'
import type { Feed, Feeds } from './feeds.ts'
import type { Follower, Followers } from './followers.ts'
import { positionOf } from './position.ts'

/** Minimum time between two events of a feed in a stream, ms: readers refetch after each. */
const PERIOD = 1_000

export interface WatchFeedDeps {
  readonly feeds: Pick<Feeds, 'find'>
  readonly followers: Followers
  readonly exists: (database: string) => boolean
  readonly idOf: (database: string) => string
}

/**
 * Returns a function that follows the positions of a feed for a stream of events, while its reader
 * may read the database. Its parameters are `<database>/<collection>`, and whether the endpoint
 * serves a database.
 */
export const createWatchFeed =
  ({ feeds, followers, exists, idOf }: WatchFeedDeps) =>
  (name: string, isServed: (database: string) => boolean): StreamPart => {
    const [database = '', collection = ''] = name.split(/\/(.*)/s)
    let feed: Feed | undefined
    let follower: Follower | undefined
    let seen: number | undefined
    let hasEnded = false
    let timer: NodeJS.Timeout | undefined
    let sent = Number.NEGATIVE_INFINITY
    let wake = () => {}
    const onChange = () => {
      const early = Math.max(0, sent + PERIOD - performance.now())
      timer ??= setTimeout(() => {
        timer = undefined
        wake()
      }, early).unref()
    }
    const end = () => {
      hasEnded = true
      clearTimeout(timer)
      follower?.end()
    }
    const event = (position: string | null, changes: number): FollowedEvent => ({
      ...{ type: 'feed', feed: name, position, changes },
    })

    /** Returns the feed while the reader may read it; undefined if there is none. */
    async function find(scope: Parameters<typeof inScope>[0]): Promise<Feed | undefined> {
      if (!isServed(database) || !inScope(scope, database) || !exists(database)) return undefined
      const id = idOf(database)
      feed ??= await feeds.find({ database: id, collection })
      return feed?.database === id ? feed : undefined
    }

    return {
      subscribe(listener) {
        wake = listener
        return end
      },
      async take({ databases }) {
        if (hasEnded) return undefined
        let found: Feed | undefined
        try {
          found = await find(databases)
        } catch (error) {
          // The next event or heartbeat tries again.
          if (isStoreFailure(error)) return undefined
          throw error
        }
        if (found !== undefined && follower === undefined) {
          follower = followers.follow(found, onChange)
          follower.look()
        }
        if (found === undefined || follower === undefined || follower.hasEnded) {
          end()
          return event(null, 0)
        }
        const last = Math.max(found.last, follower.last)
        const now = performance.now()
        if (last === seen || now < sent + PERIOD) return undefined
        sent = now
        const changes = seen === undefined ? 0 : last - seen
        seen = last
        return event(positionOf(found, last), changes)
      },
    }
  }
