import { Semaphore } from '../concurrency/semaphore.ts'
import { Failure } from '../failure.ts'
import type { DocumentRef } from '../storage/document-ref.ts'
import { quoteId } from './document.ts'

/** Maximum time that a change waits for other changes of its document, ms. */
const MAX_WAIT = 5_000

/** Maximum number of changes of a document that wait. */
const MAX_WAITING = 1_000

/**
 * Makes the changes of a document that a node handles run one after another. A change that reads the
 * document and then writes it would otherwise have to repeat both for each concurrent change that
 * is faster.
 */
export class DocumentLocks {
  readonly #maxWait: number
  /** A lock for each document that is being changed. */
  readonly #locks = new Map<string, Semaphore>()

  constructor(maxWait = MAX_WAIT) {
    this.#maxWait = maxWait
  }

  /**
   * Runs a change after those that began before it. `hasWaited`: the document may have changed
   * since the call.
   *
   * @param signal returns the signal that is aborted when the client disconnects.
   * @throws Failure `busy` if the others take too long, or the client disconnects while it waits.
   */
  async run<T>(
    { database, collection, id }: DocumentRef,
    signal: () => AbortSignal,
    change: (hasWaited: boolean) => Promise<T>,
  ): Promise<T> {
    const key = `${database}/${collection}/${id}`
    const limits = { waiting: MAX_WAITING, wait: this.#maxWait, busy: () => busy(id) }
    const lock = this.#locks.get(key) ?? new Semaphore(1, limits)
    this.#locks.set(key, lock)
    const entering = lock.enter(signal)
    await entering
    try {
      return await change(entering !== undefined)
    } finally {
      lock.leave()
      if (lock.held === 0) this.#locks.delete(key)
    }
  }
}

const busy = (id: string) =>
  new Failure('busy', `Too many changes of the document ${quoteId(id)} are waiting. Try again.`, {
    headers: { 'Retry-After': '1' },
  })
