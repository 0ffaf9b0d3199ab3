import type { LiveEvent } from '../../../server/contract/event.ts'
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
export function openPageConnection<E = LiveEvent>(
  options: Omit<StreamOptions<E>, 'onState'>,
): LiveConnection {
  const isVisible = () => document.visibilityState === 'visible'
  const connection = createStore<Connection>({ state: isVisible() ? 'connecting' : 'paused' })
  const onState = (next: Connection) => {
    // Most heartbeats do not change the state; skip the render.
    if (next.state !== connection.get().state || next.state === 'lost') connection.set(next)
  }
  const open = () => openStream({ ...options, onState })
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

  return {
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
