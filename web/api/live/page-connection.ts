import type { FollowedEvent, LiveEvent } from '../../../server/contract/event.ts'
import { createStore } from '../../ui/store.ts'
import {
  type Connection,
  type LiveConnection,
  openStream,
  type Stream,
  type StreamOptions,
} from './live-connection.ts'

/** Time after which a hidden page closes its stream, ms. */
export const HIDDEN_MS = 30_000

/**
 * Connects a page to a stream of server-sent events while it is visible. Without HTTP/2 a browser allows
 * six connections per server, which the streams of hidden pages would use up.
 */
export function openPageConnection(
  path: string,
  options: Pick<StreamOptions, 'after' | 'mayConnect'> & {
    readonly onEvent: (event: LiveEvent) => void
  },
): LiveConnection {
  const isVisible = () => document.visibilityState === 'visible'
  const connection = createStore<Connection>({ state: isVisible() ? 'connecting' : 'paused' })
  const onState = (next: Connection) => {
    // Most heartbeats do not change the state; skip the render.
    if (next.state !== connection.get().state || next.state === 'lost') connection.set(next)
  }
  const followers = new Map<(event: FollowedEvent) => void, string>()
  /** The URL of the open stream, without `after`. */
  let opened = path
  const url = (after: string | undefined) => {
    const parameters = after === undefined ? [] : [`after=${encodeURIComponent(after)}`]
    const query = [...parameters, ...[...new Set(followers.values())].sort()].join('&')
    return query === '' ? path : `${path}?${query}`
  }
  const onEvent: StreamOptions['onEvent'] = (event) => {
    if (event.type !== 'requests' && event.type !== 'feed') return options.onEvent(event)
    for (const follower of followers.keys()) follower(event)
  }
  const open = () => openStream({ ...options, url, onEvent, onState })
  let stream: Stream | undefined = isVisible() ? open() : undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  const tryNow = () => {
    if (connection.get().state === 'paused') connection.set({ state: 'connecting' })
    if (stream === undefined) stream = open()
    else stream.tryNow()
  }
  const pause = () => {
    clearTimeout(hiding)
    stream?.pause()
    connection.set({ state: 'paused' })
  }
  // Retry immediately when the network returns or the page becomes visible.
  const onReturn = () => {
    const { state } = connection.get()
    if (isVisible() && (state === 'paused' || state === 'lost')) tryNow()
  }
  const onVisibility = () => {
    clearTimeout(hiding)
    if (isVisible()) onReturn()
    else hiding = setTimeout(pause, HIDDEN_MS)
  }

  const listeners = new AbortController()
  const { signal } = listeners
  document.addEventListener('visibilitychange', onVisibility, { signal })
  addEventListener('online', onReturn, { signal })
  // A page in the back/forward cache must not hold the stream.
  addEventListener('pagehide', pause, { signal })
  addEventListener('pageshow', onReturn, { signal })

  const reopen = () => {
    const next = url(undefined)
    if (next === opened) return
    opened = next
    stream?.reopen()
  }

  return {
    follow(query, onEvent) {
      // The same function may follow twice.
      const follower = (event: FollowedEvent) => onEvent(event)
      followers.set(follower, query)
      // A page that replaces another first ends what that followed.
      queueMicrotask(reopen)
      return () => {
        followers.delete(follower)
        queueMicrotask(reopen)
      }
    },
    subscribe: connection.subscribe,
    current: connection.get,
    tryNow,
    close: () => {
      listeners.abort()
      clearTimeout(hiding)
      stream?.pause()
    },
  }
}
