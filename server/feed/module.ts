import { createBackgroundLoop } from '../concurrency/background-loop.ts'
import type { EventHub } from '../events/hub.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'
import { createFeeds } from './feeds.ts'
import { createFollowers } from './followers.ts'
import { type FeedRoutesDeps, feedRoutes, print } from './routes.ts'
import { createWatchFeed } from './watch-feed.ts'

export interface FeedModuleDeps {
  readonly store: Store
  readonly record: Recorder
  readonly requireRole: RequireRole
  readonly events: Pick<EventHub, 'subscribe'>
  readonly http: Pick<HttpModule, 'reserve' | 'sendList'>
  readonly logError: ErrorLog
  readonly parseView: FeedRoutesDeps['parseView']
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  readonly exists: (database: string) => boolean
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Creates the feeds of collections, their followers and routes, and the removal of old changes. */
export function createFeedModule(deps: FeedModuleDeps) {
  const { store, record, requireRole, events, http, logError, parseView, now, exists, idOf } = deps
  const feeds = createFeeds(store)
  const followers = createFollowers(
    feeds,
    store,
    logError('the changes of a feed could not be read'),
  )
  const prune = createBackgroundLoop(async (isStopped) => {
    // Held until the process exits; another node then acquires it.
    const isHolder = await store.acquireLock('feeds').catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return false
      throw error
    })
    if (isHolder) await feeds.prune(now(), isStopped)
  }, logError('the expired changes of a feed could not be removed'))
  return {
    watch: createWatchFeed({ feeds, followers, exists, idOf }),
    routes: feedRoutes({
      ...{ feeds, followers, parseView, requireRole, record, idOf },
      reserve: http.reserve,
      sendList: http.sendList,
      onAccess: events.subscribe,
    }),
    feeds,
    followers,
    print,
    /** Removes expired changes, on one of the nodes. Call it at startup and periodically. */
    wake: prune.wake,
    async [Symbol.asyncDispose]() {
      await prune.stop()
      await followers[Symbol.asyncDispose]()
    },
  }
}

export type FeedModule = ReturnType<typeof createFeedModule>
