import type { LiveEvent } from '../../server/contract/event.ts'

/** How the stream of live events stands. Times are milliseconds since 1970. */
export type Connection =
  | { readonly state: 'connecting' | 'live' }
  | { readonly state: 'lost'; readonly since: number; readonly nextTry: number }

/** What {@link openLiveConnection} gives: a store for React, and its own end. */
export interface LiveConnection {
  /** Calls back whenever {@link current} has changed; returns its own unsubscribe. */
  subscribe(listener: () => void): () => void
  current(): Connection
  /** Connects now instead of at the next try. */
  tryNow(): void
  close(): void
}

/** What {@link openLiveConnection} needs. */
export interface LiveConnectionOptions {
  readonly url: string
  /** Called with each event; with `reset` whenever events may have been missed. */
  readonly onEvent: (event: LiveEvent) => void
  /**
   * Asked after a failure, before a new stream is made: an EventSource does not tell that it was
   * refused. False: stop; whoever answers so knows why. Rejects while there is no answer.
   */
  readonly mayConnect: () => Promise<boolean>
}

/** The server sends a heartbeat every 15 s; after this long without one the connection is dead. */
const SILENCE_MS = 30_000
/** Pauses between tries; the last one repeats. The first is short: a restart takes a moment. */
const PAUSES_MS = [400, 1_000, 2_000, 4_000, 8_000, 15_000] as const

/**
 * Keeps one stream of live events open while the page is visible: a browser allows six connections
 * to a server without HTTP/2, so the seventh stream of hidden tabs would block every request.
 *
 * EventSource by itself hides statuses and gives up for good on some of them; here every failure
 * makes a new one, after growing pauses, if `mayConnect` agrees. The first failure is silent, a
 * second is `lost`.
 */
export function openLiveConnection(options: LiveConnectionOptions): LiveConnection {
  const { url, onEvent, mayConnect } = options
  const listeners = new Set<() => void>()
  let connection: Connection = { state: 'connecting' }
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let lostSince = 0
  /** Counts the tries: the answer to an earlier one comes too late. */
  let tries = 0

  const become = (next: Connection) => {
    connection = next
    for (const listener of listeners) listener()
  }

  const hush = () => {
    tries += 1
    clearTimeout(timer)
    clearTimeout(silence)
    source?.close()
    source = undefined
  }

  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(failed, SILENCE_MS)
  }

  const failed = () => {
    hush()
    if (failures === 0) lostSince = Date.now()
    const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0
    failures += 1
    timer = setTimeout(connectAgain, pause)
    if (failures === 1) become({ state: 'connecting' })
    else become({ state: 'lost', since: lostSince, nextTry: Date.now() + pause })
  }

  const connect = () => {
    hush()
    const stream = new EventSource(url)
    source = stream
    heard()
    stream.onopen = () => {
      failures = 0
      // What changed before this stream began, or between two streams, nobody has told.
      onEvent({ type: 'reset' })
      become({ state: 'live' })
      heard()
    }
    stream.onerror = failed
    stream.addEventListener('heartbeat', heard)
    stream.onmessage = (message) => {
      heard()
      onEvent(JSON.parse(message.data) as LiveEvent)
    }
  }

  const connectAgain = async () => {
    hush()
    const mine = tries
    const agreed = await mayConnect().catch(() => undefined)
    if (mine !== tries) return
    if (agreed === undefined) failed()
    else if (agreed) connect()
  }

  const onVisibility = () => {
    if (document.visibilityState === 'visible') void connectAgain()
    else hush()
  }
  document.addEventListener('visibilitychange', onVisibility)
  if (document.visibilityState === 'visible') connect()

  return {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    current: () => connection,
    tryNow: () => void connectAgain(),
    close: () => {
      document.removeEventListener('visibilitychange', onVisibility)
      hush()
    },
  }
}
