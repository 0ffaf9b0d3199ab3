import type { FollowedEvent, LiveEvent } from '../../../server/contract/event.ts'

/**
 * State of the stream of live events; paused while the page is hidden. Times are milliseconds since
 * the Unix epoch.
 */
export type Connection =
  | { readonly state: 'connecting' | 'live' | 'paused' }
  | { readonly state: 'lost'; readonly since: number; readonly nextTry: number }

/** A live connection as an external store for React. */
export interface LiveConnection {
  /** Registers a listener for changes of {@link current}. Returns a function that removes it. */
  subscribe(listener: () => void): () => void
  current(): Connection
  /** Retries immediately instead of at the scheduled time. */
  tryNow(): void
  /**
   * Follows more than the changes of the administration, until the returned function is called.
   *
   * @param query parameters of the stream, such as `feed=blog/articles`.
   */
  follow(query: string, onEvent: (event: FollowedEvent) => void): () => void
  close(): void
}

export interface StreamOptions {
  /** Returns the URL of a stream that resumes after an event, or that starts now. */
  readonly url: (after: string | undefined) => string
  /** Id of the event to resume after. If undefined, the stream starts now and emits a `reset`. */
  readonly after: string | undefined
  /** Called with each event, and with a `reset` whenever events may have been missed. */
  readonly onEvent: (event: LiveEvent | FollowedEvent) => void
  /** Called on each change of the connection and on each heartbeat. */
  readonly onState: (connection: Connection) => void
  /**
   * Called after a failure, before the stream is reopened, because an EventSource does not expose
   * the status of a rejected request. The stream stops if it resolves to false. It rejects while
   * the server is unavailable.
   */
  readonly mayConnect: (signal: AbortSignal) => Promise<boolean>
}

export interface Stream {
  /** Retries immediately, even if the stream is paused or stopped. */
  tryNow(): void
  /** Opens the stream again with another URL, after the last event. */
  reopen(): void
  /** Closes the stream until {@link tryNow} is called. Does not call `onState`. */
  pause(): void
}

/**
 * Timeout in ms for an open stream that receives nothing. The server sends a heartbeat every 5 s,
 * so a server that hangs is reported after 7 to 12 s.
 */
export const HEARTBEAT_TIMEOUT_MS = 12_000
/** Timeout in ms for the first byte of a stream. */
export const FIRST_BYTE_MS = 10_000
/** Timeout in ms for `mayConnect`. */
export const CHECK_MS = 4_000
/**
 * Retry intervals in ms, measured from the start of one try to the start of the next. The last
 * interval repeats, so that the stream recovers within 5 s of the server. The first is short
 * because a restart takes little time. Each visible page sends one small request per try: 1,000 pages
 * send 333 to 417 requests per second.
 */
export const RETRY_DELAYS_MS = [400, 1_000, 2_000, 3_000] as const
/** Maximum fraction by which an interval is shortened at random, to spread reconnects. */
const JITTER = 0.2
/** Minimum pause in ms between the end of one try and the start of the next. */
const MIN_PAUSE_MS = 400

/**
 * Opens a stream of server-sent events, and keeps it open.
 *
 * An EventSource alone hides response statuses, stops retrying after some of them, and does not
 * detect a server that hangs. This function opens a new EventSource after each failure and each
 * timeout, at increasing intervals, if `mayConnect` agrees. Most first failures are brief, so the
 * state stays `connecting` after one; a timeout or a second failure sets it to `lost`.
 */
export function openStream(options: StreamOptions): Stream {
  const { url, onEvent, onState, mayConnect } = options
  let source: EventSource | undefined
  let check: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let limit: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let heardAt = Date.now()
  let tryBegan = 0
  /** Id of the event that the next stream resumes after; undefined after a failure. */
  let { after } = options
  /** Counts tries, to discard the result of an outdated one. */
  let tries = 0

  const pause = () => {
    tries += 1
    clearTimeout(timer)
    clearTimeout(limit)
    check?.abort()
    source?.close()
    check = undefined
    source = undefined
  }

  const limitSilence = (ms: number) => {
    clearTimeout(limit)
    limit = setTimeout(() => failed({ silent: true }), ms)
  }

  const onMessage = ({ lastEventId }: MessageEvent) => {
    after = lastEventId
    onSign()
  }

  const onSign = () => {
    heardAt = Date.now()
    limitSilence(HEARTBEAT_TIMEOUT_MS)
  }

  const failed = ({ silent }: { silent: boolean }) => {
    pause()
    // Events between two streams are unknown, and requests may have failed in between.
    after = undefined
    const planned = RETRY_DELAYS_MS[failures] ?? RETRY_DELAYS_MS[3]
    const left = planned * (1 - JITTER * Math.random()) - (Date.now() - tryBegan)
    const delay = Math.max(left, MIN_PAUSE_MS)
    failures += 1
    timer = setTimeout(connectAgain, delay)
    if (failures === 1 && !silent) onState({ state: 'connecting' })
    else onState({ state: 'lost', since: heardAt, nextTry: Date.now() + delay })
  }

  const connect = () => {
    pause()
    const resumes = after !== undefined
    const stream = new EventSource(url(after))
    source = stream
    limitSilence(FIRST_BYTE_MS)
    stream.onopen = () => {
      failures = 0
      if (!resumes) onEvent({ type: 'reset' })
      onState({ state: 'live' })
      onSign()
    }
    stream.onerror = () => failed({ silent: false })
    stream.addEventListener('hello', onMessage)
    stream.addEventListener('heartbeat', (message) => {
      onMessage(message)
      onState({ state: 'live' })
    })
    stream.onmessage = (message) => {
      onMessage(message)
      onEvent(JSON.parse(message.data))
    }
  }

  const connectAgain = async () => {
    pause()
    tryBegan = Date.now()
    const attempt = tries
    check = new AbortController()
    limit = setTimeout(() => failed({ silent: true }), CHECK_MS)
    const agreed = await mayConnect(check.signal).catch(() => undefined)
    if (attempt !== tries) return
    if (agreed === undefined) failed({ silent: false })
    else if (agreed) connect()
    else pause()
  }

  connect()
  return {
    tryNow: () => void connectAgain(),
    // Without a stream, the next try uses the URL.
    reopen: () => source && connect(),
    pause,
  }
}
