import { getHeapStatistics } from 'node:v8'
import { Failure } from '../failure.ts'

/**
 * How much the bodies of requests may take of the process at the same time, as they arrive: a share of
 * its heap limit, within bounds, bytes. A body takes several times its size while it is decoded,
 * parsed and stored.
 */
export const BODY_BUDGET = {
  share: 1 / 8,
  least: 8 * 1024 * 1024,
  most: 128 * 1024 * 1024,
} as const

/** What an array of documents holds while it is split and stored, however large it is, bytes. */
export const ARRAY_BYTES = 2 * 1024 * 1024

/** What a 503 for want of room says in `Retry-After`, s. */
const RETRY_AFTER = 5

/** Returns the budget that fits a heap limit, bytes. */
export const bodyLimit = (heap: number): number =>
  Math.min(BODY_BUDGET.most, Math.max(BODY_BUDGET.least, Math.floor(heap * BODY_BUDGET.share)))

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
   * Holds bytes for a body that is about to be read.
   *
   * @returns releases them; to be called once or more.
   * @throws Failure `unavailable` with `Retry-After` where they exceed the budget.
   */
  reserve(bytes: number): () => void {
    this.#requireRoom(this.#held + bytes, this.limit)
    this.#held += bytes
    return once(() => {
      this.#held -= bytes
    })
  }

  /** Does the same for an array. Arrays take half of the budget at most: they may arrive slowly. */
  reserveArray(): () => void {
    this.#requireRoom(this.#arrays + ARRAY_BYTES, this.limit / 2)
    const release = this.reserve(ARRAY_BYTES)
    this.#arrays += ARRAY_BYTES
    return once(() => {
      this.#arrays -= ARRAY_BYTES
      release()
    })
  }

  #requireRoom(bytes: number, limit: number): void {
    if (bytes <= limit) return
    throw new Failure(
      'unavailable',
      `The bodies of other requests take the ${Math.floor(this.limit / 1024 / 1024)} MiB that this node ` +
        `has for them. Try again in ${RETRY_AFTER} s.`,
      { headers: { 'Retry-After': String(RETRY_AFTER) } },
    )
  }
}

/** The budget of this process. */
export const bodyBudget = new BodyBudget()

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
