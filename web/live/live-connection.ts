import type { LiveEvent } from '../../server/contract/event.ts'

/** How the stream of live events stands. Times are milliseconds since 1970. */
export type Connection =
  | { readonly state: 'connecting' | 'live' }
  | { readonly state: 'lost'; readonly since: number; readonly nextTry: number }

/** A connection as a page has it: a store for React, and its own end. */
export interface LiveConnection {
  /** Calls back whenever {@link current} has changed; returns its own unsubscribe. */
  subscribe(listener: () => void): () => void
  current(): Connection
  /** Connects now instead of at the next try. */
  tryNow(): void
  close(): void
}

/** What {@link openStream} needs. */
export interface StreamOptions {
  readonly url: string
  /** Called with each event; with `reset` whenever events may have been missed. */
  readonly onEvent: (event: LiveEvent) => void
  /** Called with how it stands, whenever that has changed, and with each heartbeat. */
  readonly onState: (connection: Connection) => void
  /**
   * Asked after a failure, before a new stream is made: an EventSource does not tell that it was
   * refused. False: stop; whoever answers so knows why. Rejects while there is no answer.
   */
  readonly mayConnect: () => Promise<boolean>
}

/** A stream of live events. */
export interface Stream {
  /** Connects now instead of at the next try; also where it rests or has stopped. */
  tryNow(): void
  /** Closes the stream without a word, until {@link tryNow}. */
  rest(): void
}

/** The server sends a heartbeat every 15 s; after this long without one the connection is dead. */
const SILENCE_MS = 30_000
/** Pauses between tries; the last one repeats. The first is short: a restart takes a moment. */
const PAUSES_MS = [400, 1_000, 2_000, 4_000, 8_000, 15_000] as const

/**
 * Opens a stream of live events, in a page or in a worker, and keeps it open. EventSource by itself
 * hides statuses and gives up for good on some of them; here every failure makes a new one, after
 * growing pauses, if `mayConnect` agrees. The first failure is silent, a second is `lost`.
 */
export function openStream({ url, onEvent, onState, mayConnect }: StreamOptions): Stream {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let lostSince = 0
  /** Counts the tries: the answer to an earlier one comes too late. */
  let tries = 0

  const rest = () => {
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
    rest()
    if (failures === 0) lostSince = Date.now()
    const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0
    failures += 1
    timer = setTimeout(connectAgain, pause)
    if (failures === 1) onState({ state: 'connecting' })
    else onState({ state: 'lost', since: lostSince, nextTry: Date.now() + pause })
  }

  const connect = () => {
    rest()
    const stream = new EventSource(url)
    source = stream
    heard()
    stream.onopen = () => {
      failures = 0
      // What changed before this stream began, or between two streams, nobody has told.
      onEvent({ type: 'reset' })
      onState({ state: 'live' })
      heard()
    }
    stream.onerror = failed
    stream.addEventListener('heartbeat', () => {
      heard()
      onState({ state: 'live' })
    })
    stream.onmessage = (message) => {
      heard()
      onEvent(JSON.parse(message.data) as LiveEvent)
    }
  }

  const connectAgain = async () => {
    rest()
    const mine = tries
    const agreed = await mayConnect().catch(() => undefined)
    if (mine !== tries) return
    if (agreed === undefined) failed()
    else if (agreed) connect()
  }

  connect()
  return { tryNow: () => void connectAgain(), rest }
}
