import { getHeapStatistics } from 'node:v8'
import { Failure } from '../../../failure.ts'

/**
 * Memory for request bodies in transit: a share of the process's heap limit, within bounds in
 * bytes. Decoding, parsing and storing a body takes several times its size.
 */
export const BODY_BUDGET = {
  share: 1 / 8,
  min: 8 * 1024 * 1024,
  max: 128 * 1024 * 1024,
} as const

/**
 * Memory for an array of documents of any length while it is split and stored, bytes.
 */
export const ARRAY_BYTES = 2 * 1024 * 1024

/** `Retry-After` of a 503 for lack of memory, s. */
const RETRY_AFTER = 5

/** Returns the budget for a heap limit, bytes. */
export const bodyLimit = (heap: number): number =>
  Math.min(BODY_BUDGET.max, Math.max(BODY_BUDGET.min, Math.floor(heap * BODY_BUDGET.share)))

/** Counts the bytes of the request bodies that the process holds. */
export class BodyBudget {
  readonly limit: number
  #held = 0
  #arrays = 0

  constructor(limit: number = bodyLimit(getHeapStatistics().heap_size_limit)) {
    this.limit = limit
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held
  }

  /**
   * Reserves bytes for a body before it is read.
   *
   * @returns a function that releases them. It may be called more than once.
   * @throws Failure `unavailable` with `Retry-After` if the budget is exceeded.
   */
  reserve(bytes: number): () => void {
    this.#requireWithin(this.#held + bytes, this.limit)
    this.#held += bytes
    return once(() => {
      this.#held -= bytes
    })
  }

  /**
   * Reserves {@link ARRAY_BYTES} for an array. Arrays take at most half of the budget because they
   * may arrive slowly.
   */
  reserveArray(): () => void {
    this.#requireWithin(this.#arrays + ARRAY_BYTES, this.limit / 2)
    const release = this.reserve(ARRAY_BYTES)
    this.#arrays += ARRAY_BYTES
    return once(() => {
      this.#arrays -= ARRAY_BYTES
      release()
    })
  }

  #requireWithin(bytes: number, limit: number): void {
    if (bytes <= limit) return
    throw new Failure(
      'unavailable',
      `This node has too many requests with bodies in progress: it holds at most ` +
        `${Math.floor(limit / 1024 / 1024)} MiB of such bodies at once. Try again in ${RETRY_AFTER} s.`,
      { headers: { 'Retry-After': String(RETRY_AFTER) } },
    )
  }
}

/** The budget of this process for all bodies except forms. */
export const bodyBudget = new BodyBudget()

/**
 * The budget of this process for the forms of sign-ins. Anyone can send them, so they must not
 * delay the requests of authenticated callers.
 */
export const formBudget = new BodyBudget()

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
