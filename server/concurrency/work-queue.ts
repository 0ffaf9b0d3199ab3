import { Failure } from '../failure.ts'
import { Semaphore } from './semaphore.ts'

/** The caller of a request for limited work. */
export interface Caller {
  /** Identifies the caller: requests with the same id share the limits of one caller. */
  readonly id: string
  /** Aborted when the client of the request disconnects. */
  readonly signal: AbortSignal
}

/** A caller without an id, which does not disconnect. */
export const NO_CALLER: Caller = { id: '', signal: new AbortController().signal }

export interface WorkLimits {
  /** Maximum number of requests that run at the same time. */
  readonly running: number
  /** Maximum number of them that one caller has. */
  readonly ofCaller: number
  /** Maximum number of requests that wait. */
  readonly waiting: number
  /** Maximum time that a request waits, ms. */
  readonly wait: number
}

/** How a queue rejects requests. */
export interface WorkNames {
  /** What callers wait for, in the plural. */
  readonly work: string
  /** The message if too much of it runs. */
  readonly busy: string
  /** Seconds, for the header `Retry-After`. */
  readonly retryAfter: number
}

/**
 * Limits work of a node that takes long, fairly between its callers
 * (docs/decisions/0036-fair-queues.md). One caller has at most half of the places to wait.
 */
export class WorkQueue {
  readonly #slots: Semaphore
  readonly #limits: WorkLimits
  readonly #names: WorkNames

  constructor(limits: WorkLimits, names: WorkNames) {
    this.#slots = new Semaphore(limits.running, limits.ofCaller)
    this.#limits = limits
    this.#names = names
  }

  /** Number of requests that run. */
  get running(): number {
    return this.#slots.held
  }

  get waiting(): number {
    return this.#slots.waiting
  }

  /** Returns whether the requests of a caller wait for its own, regardless of other callers. */
  isAtShare({ id }: Caller): boolean {
    return this.#slots.isAtShare(id)
  }

  /**
   * Waits until a request may run. It must call {@link leave} afterwards.
   *
   * @returns undefined if there is no wait.
   * @throws Failure `busy` if it waits for too long, too many wait or the client disconnects
   */
  enter({ id, signal }: Caller): Promise<void> | undefined {
    const { waiting, wait } = this.#limits
    const entering = this.#slots.enter(() => {
      const own = Math.ceil(waiting / 2)
      if (this.#slots.waitingOf(id) >= own)
        throw this.#busy(`${own} of your ${this.#names.work} wait already. Try again.`)
      if (this.#slots.waiting >= waiting) throw this.#busy()
      return AbortSignal.any([signal, AbortSignal.timeout(wait)])
    }, id)
    return entering?.catch(() => {
      throw this.#slots.isAtShare(id) ? this.#busy(this.#ownBusy) : this.#busy()
    })
  }

  leave({ id }: Caller): void {
    this.#slots.leave(id)
  }

  get #ownBusy(): string {
    const { ofCaller } = this.#limits
    return `At most ${ofCaller} of your ${this.#names.work} can run at once. Try again.`
  }

  #busy(message = this.#names.busy): Failure {
    return new Failure('busy', message, {
      headers: { 'Retry-After': String(this.#names.retryAfter) },
    })
  }
}
