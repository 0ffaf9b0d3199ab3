/**
 * Limits concurrency. Requests beyond the limit wait. The next one to enter is that of the caller
 * that holds the fewest slots; callers that hold equally many enter in turn, and the requests of
 * each in order of arrival. Without callers, requests enter in order of arrival.
 */
export class Semaphore {
  readonly #limit: number
  readonly #share: number
  readonly #held = new Map<string, number>()
  /** The requests that wait, by caller. The callers are in the order of their turns. */
  readonly #queues = new Map<string, Set<() => void>>()
  #heldByAll = 0
  #waiting = 0

  /** @param share maximum number of slots that one caller holds, by default all. */
  constructor(limit: number, share = limit) {
    this.#limit = limit
    this.#share = share
  }

  /** Number of requests that have entered and not yet left. */
  get held(): number {
    return this.#heldByAll
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Number of requests of a caller that wait. */
  waitingOf(caller: string): number {
    return this.#queues.get(caller)?.size ?? 0
  }

  /** Returns whether a caller holds its share, and therefore waits for its own requests. */
  isAtShare(caller: string): boolean {
    return this.#heldBy(caller) >= this.#share
  }

  /**
   * Enters when a slot is free for the caller. Each request that enters must call {@link leave}.
   *
   * @returns undefined if there is no wait.
   * @throws the reason of the signal if it is aborted before the request enters.
   */
  enter(signal: () => AbortSignal, caller = ''): Promise<void> | undefined {
    return this.tryEnter(caller) ? undefined : this.#wait(caller, signal())
  }

  /** Enters if a slot is free for the caller, and returns whether it has entered. */
  tryEnter(caller = ''): boolean {
    // Requests that wait while a slot is free are those of callers that hold their share.
    if (this.#heldByAll >= this.#limit || this.isAtShare(caller)) return false
    this.#hold(caller)
    return true
  }

  leave(caller = ''): void {
    this.#heldByAll--
    const held = this.#heldBy(caller) - 1
    if (held === 0) this.#held.delete(caller)
    else this.#held.set(caller, held)
    // The slot passes on directly, so that a new request cannot overtake those that wait.
    const next = this.#next()
    if (next === undefined) return
    const queue = this.#queues.get(next)
    const [enter] = queue ?? []
    // The next turn is that of the others.
    if (queue !== undefined && this.#queues.delete(next)) this.#queues.set(next, queue)
    enter?.()
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0
  }

  #hold(caller: string): void {
    this.#heldByAll++
    this.#held.set(caller, this.#heldBy(caller) + 1)
  }

  /** Returns the waiting caller whose request enters next; undefined if all hold their share. */
  #next(): string | undefined {
    let next: string | undefined
    let fewest = this.#share
    for (const caller of this.#queues.keys()) {
      const held = this.#heldBy(caller)
      if (held >= fewest) continue
      next = caller
      fewest = held
    }
    return next
  }

  #wait(caller: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(caller) ?? new Set()
      this.#queues.set(caller, queue)
      const remove = () => {
        signal.removeEventListener('abort', abort)
        queue.delete(enter)
        if (queue.size === 0) this.#queues.delete(caller)
        this.#waiting--
      }
      const enter = () => {
        remove()
        this.#hold(caller)
        resolve()
      }
      const abort = () => {
        remove()
        reject(signal.reason)
      }
      queue.add(enter)
      this.#waiting++
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }
}
