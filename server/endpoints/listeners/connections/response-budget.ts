import { getHeapStatistics } from 'node:v8'
import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure } from '../../../failure.ts'

/** Share of the heap limit that unsent responses may use. */
const RESPONSE_SHARE = 1 / 4

/** `Retry-After` of a 503 response, s. */
const RETRY_AFTER = 5

/** Returns the budget for the heap limit of this process, bytes; at least one full page. */
export const responseLimit = (): number =>
  Math.max(PAGE_BYTES, Math.floor(getHeapStatistics().heap_size_limit * RESPONSE_SHARE))

/**
 * Counts the bytes of responses that are being prepared or that clients have not received. The
 * limit keeps a process with slow clients from running out of memory.
 */
export class ResponseBudget {
  readonly limit: number
  #held = 0

  /** @param limit bytes; by default {@link responseLimit}. */
  constructor(limit: number = responseLimit()) {
    this.limit = limit
  }

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
   * Throws if `bytes` more would exceed the limit. A response larger than the limit is allowed if
   * nothing else is held.
   *
   * @throws Failure `unavailable` with `Retry-After`
   */
  requireAvailable(bytes: number): void {
    if (this.#held === 0 || this.#held + bytes <= this.limit) return
    throw new Failure(
      'unavailable',
      `Clients have not yet read ${mebibytes(this.#held)} MiB of responses. This node buffers at most ` +
        `${mebibytes(this.limit)} MiB. Try again in ${RETRY_AFTER} s.`,
      { headers: { 'Retry-After': String(RETRY_AFTER) } },
    )
  }
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024)
