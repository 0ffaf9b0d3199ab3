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
