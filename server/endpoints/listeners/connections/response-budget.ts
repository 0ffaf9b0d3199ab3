import { getHeapStatistics } from 'node:v8'
import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure } from '../../../failure.ts'

/** Share of the heap limit that unsent responses to authenticated clients may use. */
const RESPONSE_SHARE = 1 / 4

/** Share of the heap limit that unsent responses to other clients may use. */
const ANONYMOUS_SHARE = 1 / 16

/** `Retry-After` of a 503 response, s. */
const RETRY_AFTER = 5

/** Returns the budget for the heap limit of this process, bytes; at least one full page. */
export const responseLimit = (): number =>
  Math.max(PAGE_BYTES, Math.floor(getHeapStatistics().heap_size_limit * RESPONSE_SHARE))

/**
 * Counts the bytes of responses that are being prepared or that authenticated clients have not
 * received. The limit keeps a process with slow clients from running out of memory.
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

/** A connection that an {@link AnonymousBudget} can close. It then releases all that it holds. */
export interface Holder {
  drop(): void
}

/**
 * Counts the bytes of responses that other clients have not received. Above the limit, it closes
 * the connection that has read nothing for the longest time. Anonymous clients can therefore
 * neither use up the memory nor make the server reject requests of others.
 */
export class AnonymousBudget {
  readonly limit: number
  #held = 0
  /** The bytes of each connection. The one that has read nothing for the longest time is first. */
  readonly #holders = new Map<Holder, number>()

  /** @param limit bytes; by default a share of the heap limit of this process. */
  constructor(limit = Math.floor(getHeapStatistics().heap_size_limit * ANONYMOUS_SHARE)) {
    this.limit = limit
  }

  get held(): number {
    return this.#held
  }

  hold(holder: Holder, bytes: number): void {
    this.#held += bytes
    this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + bytes)
    for (const [stalled] of this.#holders) {
      // A single response may exceed the limit.
      if (this.#held <= this.limit || this.#holders.size === 1) return
      stalled.drop()
    }
  }

  release(holder: Holder, bytes: number): void {
    const rest = (this.#holders.get(holder) ?? 0) - bytes
    this.#held -= bytes
    this.#holders.delete(holder)
    if (rest > 0) this.#holders.set(holder, rest)
  }
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024)
