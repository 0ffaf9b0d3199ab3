import type { LiveEvent } from '../../server/contract/event.ts'
import { type Connection, type LiveConnection, openStream } from './live-connection.ts'
import type { FromWorker, ToWorker } from './live-worker.ts'

/** What {@link openPageConnection} needs. */
export interface PageConnectionOptions {
  readonly url: string
  /** Called with each event; with `reset` whenever events may have been missed. */
  readonly onEvent: (event: LiveEvent) => void
  /** Looks who is signed in; false: nobody any more. Rejects while there is no answer. */
  readonly look: () => Promise<boolean>
}

/** The worker passes on a heartbeat every 15 s; after this long without a word it is not there. */
const SILENCE_MS = 45_000

/**
 * The page's part in the stream of live events: all pages of a browser share the one of a worker, for
 * a browser allows six connections to a server without HTTP/2, and a seventh stream would block every
 * request. Where there are no shared workers a page has a stream of its own while it is in sight.
 */
export function openPageConnection(options: PageConnectionOptions): LiveConnection {
  const listeners = new Set<() => void>()
  let connection: Connection = { state: 'connecting' }
  const become = (next: Connection) => {
    // A heartbeat says the same again: nothing to draw.
    if (next.state === connection.state && next.state !== 'lost') return
    connection = next
    for (const listener of listeners) listener()
  }
  let way = 'SharedWorker' in globalThis ? throughWorker() : whileVisible()

  function throughWorker() {
    const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), {
      type: 'module',
      name: 'gatehouse-live',
    })
    const tell = (message: ToWorker) => worker.port.postMessage(message)
    const close = () => {
      clearTimeout(silence)
      tell({ type: 'close' })
      worker.port.close()
    }
    const replace = (by: () => typeof way) => {
      close()
      way = by()
    }
    const listen = () => setTimeout(() => replace(throughWorker), SILENCE_MS)
    let silence = listen()
    worker.onerror = (event) => {
      event.preventDefault()
      // Its file is gone with an older version of the console, or may not be run.
      replace(whileVisible)
    }
    worker.port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      clearTimeout(silence)
      silence = listen()
      if (data.type === 'event') options.onEvent(data.event)
      else if (data.type === 'state') become(data.connection)
      // Each page for itself: whether the session has ended, or is another's, changes what it shows.
      else void options.look().catch(() => {})
    }
    tell({ type: 'open', url: options.url })
    return { tryNow: () => tell({ type: 'try' }), close }
  }

  function whileVisible() {
    const stream = openStream({
      url: options.url,
      onEvent: options.onEvent,
      onState: become,
      mayConnect: options.look,
    })
    const onVisibility = () => {
      if (document.visibilityState === 'visible') stream.tryNow()
      else stream.rest()
    }
    document.addEventListener('visibilitychange', onVisibility)
    return {
      tryNow: stream.tryNow,
      close: () => {
        document.removeEventListener('visibilitychange', onVisibility)
        stream.rest()
      },
    }
  }

  // A page that the history keeps must not keep the stream; coming back it begins anew.
  const onHide = () => way.close()
  const onShow = ({ persisted }: PageTransitionEvent) => {
    if (persisted) way = 'SharedWorker' in globalThis ? throughWorker() : whileVisible()
  }
  addEventListener('pagehide', onHide)
  addEventListener('pageshow', onShow)

  return {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    current: () => connection,
    tryNow: () => way.tryNow(),
    close: () => {
      removeEventListener('pagehide', onHide)
      removeEventListener('pageshow', onShow)
      way.close()
    },
  }
}
