import { getHeapStatistics } from 'node:v8'
import { PAGE_BYTES } from '../contract/document.ts'
import { Failure } from '../failure.ts'

/** The share of the heap limit that responses may take before clients have received them. */
const RESPONSE_SHARE = 1 / 4

/** What a 503 for want of room says in `Retry-After`, s. */
const RETRY_AFTER = 5

/** Returns the budget that fits the heap limit of this process, bytes; at least one full page. */
export const responseLimit = (): number =>
  Math.max(PAGE_BYTES, Math.floor(getHeapStatistics().heap_size_limit * RESPONSE_SHARE))

/**
 * Counts the bytes of responses that the process holds: those being prepared and those that clients
 * have not received yet. A process that answers faster than its clients read would otherwise run out
 * of memory.
 */
export class ResponseBudget {
  readonly limit: number
  #held = 0

  /** @param limit bytes; by default {@link responseLimit}. */
  constructor(limit: number = responseLimit()) {
    this.limit = limit
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held
  }

  get isFull(): boolean {
    return this.#held >= this.limit
  }

  hold(bytes: number): void {
    this.#held += bytes
  }

  release(bytes: number): void {
    this.#held -= bytes
  }

  /**
   * Fails where so many more bytes exceed the limit. A response that is larger than the limit is
   * allowed while nothing else is held.
   *
   * @throws Failure `unavailable` with `Retry-After`
   */
  requireRoom(bytes: number): void {
    if (this.#held === 0 || this.#held + bytes <= this.limit) return
    throw new Failure(
      'unavailable',
      `Clients have not yet read ${mebibytes(this.#held)} MiB of responses; this node holds at most ` +
        `${mebibytes(this.limit)} MiB. Try again in ${RETRY_AFTER} s.`,
      { headers: { 'Retry-After': String(RETRY_AFTER) } },
    )
  }
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024)
