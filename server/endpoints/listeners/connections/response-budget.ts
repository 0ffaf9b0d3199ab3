import { ServerResponse } from 'node:http'
import { getHeapStatistics } from 'node:v8'
import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure } from '../../../failure.ts'

/** Share of the heap limit that unsent responses may use. */
const RESPONSE_SHARE = 1 / 4

/** Share of the budget that is reserved for responses of the administration. */
const RESERVE = 1 / 4

/** Time after which a client that reads nothing of its response is stalled, ms. */
const STALLED = 5_000

/** `Retry-After` of a 503 response, s. */
const RETRY_AFTER = 5

/** Returns the budget for the heap limit of this process, bytes; at least one full page of data. */
const responseLimit = (): number =>
  Math.floor(
    Math.max(PAGE_BYTES / (1 - RESERVE), getHeapStatistics().heap_size_limit * RESPONSE_SHARE),
  )

/** A connection that holds bytes of a {@link ResponseBudget}. */
export interface Holder {
  readonly held: number
  /** When its client last read a part, or it began to hold bytes, by `performance.now()`. */
  readonly progressedAt: number
  /** Whether its client has not read what was sent. */
  readonly isUnread: boolean
  /** Closes the connection. It then releases all that it holds. */
  drop(): void
}

/**
 * Counts the bytes of responses that are being prepared or that clients have not received, so that
 * slow clients cannot use up the memory of the process.
 */
export class ResponseBudget {
  /** Maximum for responses of the administration, bytes. */
  readonly limit: number
  /** Maximum for all other responses, bytes. */
  readonly #dataLimit: number
  #held = 0
  /** The connection whose client has read nothing for the longest time is first. */
  readonly #holders = new Set<Holder>()

  /** @param limit bytes; by default a share of the heap limit of this process. */
  constructor(limit: number = responseLimit()) {
    this.limit = limit
    this.#dataLimit = limit * (1 - RESERVE)
  }

  get held(): number {
    return this.#held
  }

  /** Above the limit, closes the connections whose clients have read nothing for the longest time. */
  hold(holder: Holder, bytes: number): void {
    this.#held += bytes
    this.#holders.add(holder)
    if (this.#held > this.limit) this.#drop(() => this.#held <= this.limit)
  }

  release(holder: Holder, bytes: number): void {
    this.#held -= bytes
    this.#holders.delete(holder)
    if (holder.held > 0) this.#holders.add(holder)
  }

  /**
   * Makes room for a response: closes the connections of stalled clients if necessary. A response
   * larger than the limit is allowed if nothing else is held.
   *
   * @throws Failure `unavailable` with `Retry-After` if there is not enough room.
   */
  requireAvailable(bytes: number, isAdministration = false): void {
    const limit = isAdministration ? this.limit : this.#dataLimit
    const fits = () => this.#held === 0 || this.#held + bytes <= limit
    if (fits()) return
    this.#drop(fits, performance.now() - STALLED)
    if (fits()) return
    throw new Failure(
      'unavailable',
      `Clients have not yet read ${mebibytes(this.#held)} MiB of responses. This node buffers at most ` +
        `${mebibytes(limit)} MiB. Try again in ${RETRY_AFTER} s.`,
      { headers: { 'Retry-After': String(RETRY_AFTER) } },
    )
  }

  /** Closes connections whose clients do not read, until there is enough room. */
  #drop(isEnough: () => boolean, since = Number.POSITIVE_INFINITY): void {
    for (const holder of [...this.#holders]) {
      // A single response may exceed the limit.
      if (isEnough() || holder.progressedAt > since || this.#holders.size === 1) return
      if (holder.isUnread) holder.drop()
    }
  }
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024)

/** Larger bodies are sent in slices of this size, bytes. The memory of sent slices is released. */
const CHUNK_BYTES = 64 * 1024

/** Counts the bytes of the responses of a connection. */
export interface ResponseAccount {
  /** Whether several requests of the connection are in progress. */
  readonly isPipelining: boolean
  hold(bytes: number): void
  release(bytes: number): void
}

type Callback = (error?: Error | null) => void

/**
 * A response that counts its bytes from when they are known until the system has accepted them for
 * sending or the connection is closed.
 */
export class CountedResponse extends ServerResponse {
  #account: ResponseAccount | undefined
  #held = 0
  #reserved = 0
  /** Bytes of the body, compressed if the response is. */
  bodyBytes = 0
  /** Whether it may use the part of the budget that is reserved for the administration. */
  isAdministration = false

  /** Sets the account that counts the bytes of this response. */
  countIn(account: ResponseAccount): void {
    this.#account = account
  }

  /** Bytes held for a body that is being prepared. */
  get reserved(): number {
    return this.#reserved
  }

  /** Reserves bytes for a body before it is prepared, replacing an earlier reservation. */
  reserve(bytes: number): void {
    this.#hold(bytes - this.#reserved)
    this.#reserved = bytes
  }

  /** Releases all held bytes. Called when the response is closed. */
  releaseAll(): void {
    this.#release(this.#held)
    this.#reserved = 0
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback) {
    const given = typeof encoding === 'function' ? encoding : callback
    const bytes = this.#take(chunk)
    const done: Callback = (error) => {
      this.#release(bytes)
      given?.(error)
    }
    return typeof encoding === 'string'
      ? super.write(chunk, encoding, done)
      : super.write(chunk, done)
  }

  override end(
    chunk?: unknown,
    encoding?: BufferEncoding | (() => void),
    callback?: () => void,
  ): this {
    const bytes = this.#take(chunk)
    if (bytes <= CHUNK_BYTES) {
      // ASCII, which Node.js writes faster in this encoding than in UTF-8.
      const isAscii = typeof chunk === 'string' && chunk.length === bytes && encoding === undefined
      const send = () =>
        super.end(chunk, isAscii ? 'latin1' : (encoding as BufferEncoding), callback)
      // The responses after it would be sent in later turns. By then, Node.js may have ended the
      // connection, because the client has ended its side.
      if (this.#account?.isPipelining) return send()
      sendAtEndOfTurn(send)
      return this
    }
    const given = typeof encoding === 'function' ? encoding : callback
    if (given !== undefined) this.once('finish', given)
    this.#sendSlices(toBuffer(chunk, typeof encoding === 'string' ? encoding : 'utf8'))
    return this
  }

  /** Sends a body in slices, at the speed of the client. */
  #sendSlices(body: Buffer): void {
    let from = 0
    const send = (): void => {
      for (;;) {
        const slice = body.subarray(from, from + CHUNK_BYTES)
        from += CHUNK_BYTES
        // The last slice is released when the response is closed.
        if (from >= body.length) return void super.end(slice)
        const goesOn = super.write(slice, () => this.#release(slice.length))
        if (!goesOn) return void this.once('drain', send)
      }
    }
    send()
  }

  /** Holds the bytes of a part of the body, using the reservation first. Returns their number. */
  #take(chunk: unknown): number {
    const bytes = sizeOf(chunk)
    this.bodyBytes += bytes
    const reserved = Math.min(bytes, this.#reserved)
    this.#reserved -= reserved
    this.#hold(bytes - reserved)
    return bytes
  }

  #hold(bytes: number): void {
    this.#held += bytes
    this.#account?.hold(bytes)
  }

  #release(bytes: number): void {
    // Callbacks of writes may run after the close, which has released everything.
    const released = Math.min(bytes, this.#held)
    this.#held -= released
    this.#account?.release(released)
  }
}

/** Ends the complete responses of the current turn of the event loop. */
let complete: (() => void)[] = []

/**
 * Sends a complete response after all requests that arrived in this turn of the event loop were
 * handled (docs/decisions/0034-responses-at-the-end-of-a-turn.md).
 */
function sendAtEndOfTurn(send: () => void): void {
  if (complete.push(send) === 1) setImmediate(sendComplete)
}

/** Sends the complete responses of all connections now. */
export function sendComplete(): void {
  const responses = complete
  complete = []
  for (const send of responses) send()
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk)
  return chunk instanceof Uint8Array ? chunk.byteLength : 0
}

function toBuffer(chunk: unknown, encoding: BufferEncoding): Buffer {
  if (chunk instanceof Uint8Array) {
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
  return Buffer.from(String(chunk), encoding)
}
