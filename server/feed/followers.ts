import { setTimeout as pause } from 'node:timers/promises'
import { type BackgroundLoop, createBackgroundLoop } from '../concurrency/background-loop.ts'
import type { Store } from '../storage/store.ts'
import type { Feed, Feeds, StoredChange } from './feeds.ts'

/** Maximum number of recent changes that the reader of a feed keeps, and their size, characters. */
const KEPT = { changes: 1_000, size: 1024 * 1024 } as const

/**
 * Minimum time between two deliveries, ms for each follower: the changes in between are sent
 * together, which leaves half of the processor to other work.
 */
const PAUSE_PER_FOLLOWER = 0.1

/** One follower of a feed. */
export interface Follower {
  end(): void
  /** Whether the feed was turned off. */
  readonly hasEnded: boolean
  /** The number of the last change that was found. */
  readonly last: number
  /** Returns changes after one as {@link Feeds.read}, from memory if they are recent. */
  read(after: number): readonly StoredChange[] | Promise<readonly StoredChange[]>
  /** Looks for changes now, such as those committed before this follower came. */
  look(): void
  /**
   * Returns what `create` returns for the same changes and key, if another follower has just asked
   * for it.
   */
  share<T>(changes: readonly StoredChange[], key: string, create: () => T): T
}

/** The followers of all feeds on this node. The changes of a feed are read once for all of them. */
export interface Followers extends AsyncDisposable {
  /** @param onChange called after new changes, and when the feed was turned off. */
  follow(feed: Feed, onChange: () => void): Follower
  /** Returns the number of followers of a feed. */
  count(feed: Feed): number
  /** Looks for changes of a feed, after one that this node has turned off. */
  look(feed: Feed): void
}

export function createFollowers(
  feeds: Pick<Feeds, 'read' | 'lastOf'>,
  store: Pick<Store, 'onFeedChange'>,
  onError: (error: unknown) => void,
): Followers {
  const readers = new Map<number, Reader>()
  const stopped = new Set<Promise<void>>()
  const unsubscribe = store.onFeedChange((feed) => {
    if (feed !== undefined) readers.get(feed)?.loop.wake()
    else for (const { loop } of readers.values()) loop.wake()
  })
  return {
    follow(feed, onChange) {
      const reader = readers.get(feed.id) ?? createReader(feeds, feed, onError)
      readers.set(feed.id, reader)
      // The same function may follow twice.
      const listener = () => onChange()
      reader.listeners.add(listener)
      return {
        get hasEnded() {
          return reader.hasEnded
        },
        get last() {
          return reader.last
        },
        read: (after) => reader.recentAfter(after) ?? feeds.read(feed, after),
        look: () => reader.loop.wake(),
        share: (changes, key, create) => reader.share(changes, key, create),
        end() {
          reader.listeners.delete(listener)
          if (reader.listeners.size > 0 || readers.get(feed.id) !== reader) return
          readers.delete(feed.id)
          const ending = reader.loop.stop()
          stopped.add(ending)
          void ending.then(() => stopped.delete(ending))
        },
      }
    },
    count: ({ id }) => readers.get(id)?.listeners.size ?? 0,
    look: ({ id }) => readers.get(id)?.loop.wake(),
    async [Symbol.asyncDispose]() {
      unsubscribe()
      await Promise.all([...stopped, ...[...readers.values()].map(({ loop }) => loop.stop())])
    },
  }
}

interface Reader {
  readonly listeners: Set<() => void>
  readonly loop: BackgroundLoop
  readonly hasEnded: boolean
  readonly last: number
  /** Returns the changes after one; undefined if they are not in memory. */
  recentAfter(after: number): readonly StoredChange[] | undefined
  share: Follower['share']
}

/** Creates the reader of a feed. */
function createReader(
  feeds: Pick<Feeds, 'read' | 'lastOf'>,
  feed: Feed,
  onError: (error: unknown) => void,
): Reader {
  const listeners = new Set<() => void>()
  let last = feed.last
  let recent: StoredChange[] = []
  let size = 0
  let delivered = 0
  let hasEnded = false
  let shared = new Map<string, unknown>()
  let sharedOf: readonly unknown[] = []

  function add(changes: readonly StoredChange[]): void {
    const [first] = changes
    if (first === undefined) return
    // Changes in between were removed while the database was unavailable.
    if (first.number !== last + 1) recent = []
    recent.push(...changes)
    last = changes.at(-1)?.number ?? last
    size = recent.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
    let removed = Math.max(0, recent.length - KEPT.changes)
    for (const { body } of recent.slice(0, removed)) size -= body?.length ?? 0
    while (size > KEPT.size) size -= recent[removed++]?.body?.length ?? 0
    recent = recent.slice(removed)
  }

  async function deliver(isStopped: () => boolean): Promise<void> {
    const early = delivered + listeners.size * PAUSE_PER_FOLLOWER - performance.now()
    if (early > 1) await pause(early)
    for (let isFirst = true; !isStopped(); isFirst = false) {
      const changes = await feeds.read(feed, last)
      if (changes.length === 0 && !isFirst) return
      add(changes)
      if (changes.length === 0) {
        hasEnded = (await feeds.lastOf(feed)) === undefined
        if (!hasEnded) return
      }
      delivered = performance.now()
      for (const listener of listeners) listener()
      if (hasEnded) return
    }
  }

  return {
    listeners,
    loop: createBackgroundLoop(deliver, onError),
    get hasEnded() {
      return hasEnded
    },
    get last() {
      return last
    },
    recentAfter(after) {
      if (after === last) return []
      const begin = last - recent.length
      return after >= begin && after < last ? recent.slice(after - begin) : undefined
    },
    share(changes, key, create) {
      const of = [changes[0]?.number, changes.at(-1)?.number]
      if (of.some((each, at) => each !== sharedOf[at])) [shared, sharedOf] = [new Map(), of]
      const found = shared.get(key)
      if (found !== undefined) return found as ReturnType<typeof create>
      const created = create()
      shared.set(key, created)
      return created
    },
  }
}
