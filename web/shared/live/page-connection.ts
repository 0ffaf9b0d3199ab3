import type { LiveEvent } from '../../../server/contract/event.ts'
import { createStore } from '../ui/store/store.ts'
import { type Connection, type LiveConnection, openStream } from './live-connection.ts'
import type { PageMessage, WorkerMessage } from './live-worker.ts'

export interface PageConnectionOptions {
  readonly url: string
  /** Id of the last event before the page fetched anything; undefined if unknown. */
  readonly after: string | undefined
  /** Called with each event, and with a `reset` whenever events may have been missed. */
  readonly onEvent: (event: LiveEvent) => void
  /** Checks whether a person is still signed in. Rejects while the server is unavailable. */
  readonly checkSession: () => Promise<boolean>
}

/**
 * The worker forwards each heartbeat and each failed try. After this timeout, in ms, the page
 * replaces it.
 */
const WORKER_TIMEOUT_MS = 30_000

/**
 * Connects a page to the stream of live events. All pages of a browser share one stream in a
 * worker: without HTTP/2 a browser allows six connections per server, and one stream per page would
 * use them up. Without shared workers, each page opens its own stream while it is visible.
 */
export function openPageConnection(options: PageConnectionOptions): LiveConnection {
  const connection = createStore<Connection>({ state: 'connecting' })
  const setConnection = (next: Connection) => {
    // Most heartbeats do not change the state; skip the render.
    if (next.state !== connection.get().state || next.state === 'lost') connection.set(next)
  }
  let transport = 'SharedWorker' in globalThis ? throughWorker() : whileVisible()

  function throughWorker() {
    const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), {
      type: 'module',
      name: 'gatehouse-live',
    })
    const post = (message: PageMessage) => worker.port.postMessage(message)
    const close = () => {
      clearTimeout(watchdog)
      // A late error must not open a stream.
      worker.onerror = null
      post({ type: 'close' })
      worker.port.close()
    }
    const replace = (by: () => typeof transport) => {
      close()
      transport = by()
    }
    const listen = () => setTimeout(() => replace(throughWorker), WORKER_TIMEOUT_MS)
    let watchdog = listen()
    worker.onerror = (event) => {
      event.preventDefault()
      // A newer version of the console has replaced the file, or the browser may not run it.
      replace(whileVisible)
    }
    worker.port.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      clearTimeout(watchdog)
      watchdog = listen()
      if (data.type === 'event') options.onEvent(data.event)
      else if (data.type === 'state') setConnection(data.connection)
      // Every page checks for itself, because a sign-out or another person changes what it shows.
      else void options.checkSession().catch(() => {})
    }
    post({ type: 'open', url: options.url, after: options.after })
    return { tryNow: () => post({ type: 'try' }), close }
  }

  function whileVisible() {
    const open = () =>
      openStream({
        url: options.url,
        after: options.after,
        onEvent: options.onEvent,
        onState: setConnection,
        mayConnect: options.checkSession,
      })
    const isVisible = () => document.visibilityState === 'visible'
    let stream = isVisible() ? open() : undefined
    const onVisibility = () => {
      if (!isVisible()) stream?.pause()
      else if (stream === undefined) stream = open()
      else stream.tryNow()
    }
    document.addEventListener('visibilitychange', onVisibility)
    return {
      tryNow: () => stream?.tryNow(),
      close: () => {
        document.removeEventListener('visibilitychange', onVisibility)
        stream?.pause()
      },
    }
  }

  // A page in the back/forward cache must not hold the stream. It reconnects when it is restored.
  const onHide = () => transport.close()
  const onShow = ({ persisted }: PageTransitionEvent) => {
    if (persisted) transport = 'SharedWorker' in globalThis ? throughWorker() : whileVisible()
  }
  addEventListener('pagehide', onHide)
  addEventListener('pageshow', onShow)
  // Retry immediately when the network returns or the page becomes visible.
  const onReturn = () => {
    if (connection.get().state === 'lost' && document.visibilityState === 'visible')
      transport.tryNow()
  }
  addEventListener('online', onReturn)
  document.addEventListener('visibilitychange', onReturn)

  return {
    subscribe: connection.subscribe,
    current: connection.get,
    tryNow: () => transport.tryNow(),
    close: () => {
      removeEventListener('pagehide', onHide)
      removeEventListener('pageshow', onShow)
      removeEventListener('online', onReturn)
      document.removeEventListener('visibilitychange', onReturn)
      transport.close()
    },
  }
}
