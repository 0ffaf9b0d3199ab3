import { createUndoCountdown, MIN_AFTER_PAUSE_MS } from '../../shared/ui/overlay/undo-countdown.ts'
import { createStore } from '../../shared/ui/store/store.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import type { DocumentChange, SelectionOutcome } from './change-selected.ts'

/** The last change of documents, or its undo. */
export interface LastChange {
  /** Identifies the change, also while it is undone. */
  readonly id: number
  readonly collectionRef: CollectionRef
  readonly outcome: SelectionOutcome
  /** The changes that an undo would revert. */
  readonly changes: readonly DocumentChange[]
  readonly stage: 'made' | 'undoing' | 'undone'
}

/** The last change of documents, a store for `useSyncExternalStore`. It outlives every page. */
export interface LastChangeStore {
  current(): LastChange | undefined
  /** Calls `listener` whenever {@link current} changes; returns its unsubscribe function. */
  subscribe(listener: () => void): () => void
  /**
   * Shows a change, in place of an earlier one, for the time in which it can be undone. Failures
   * stay until they are dismissed.
   */
  show(collectionRef: CollectionRef, outcome: SelectionOutcome): void
  /** Pauses the countdown while the bar is hovered or focused. */
  pause(): void
  resume(): void
  /** Starts the undo and returns what to revert; `undefined` if there is nothing. */
  begin(): LastChange | undefined
  /** Shows the outcome of an undo. Documents for which it failed can be restored again. */
  end(undone: LastChange, outcome: SelectionOutcome): void
  dismiss(): void
}

export function createLastChange(): LastChangeStore {
  const store = createStore<LastChange | undefined>(undefined)
  let lastId = 0
  const countdown = createUndoCountdown(() => become(undefined))
  const become = (next: LastChange | undefined) => {
    countdown.stop()
    store.set(next)
  }
  const isLimited = () => {
    const now = store.get()
    return now !== undefined && now.stage !== 'undoing' && now.outcome.failures.length === 0
  }
  return {
    current: store.get,
    subscribe: store.subscribe,
    show: (collectionRef, outcome) => {
      const { changes } = outcome
      become({ id: ++lastId, collectionRef, outcome, changes, stage: 'made' })
      if (isLimited()) countdown.start()
    },
    pause: countdown.pause,
    resume: () => {
      if (isLimited()) countdown.resume()
    },
    begin: () => {
      const now = store.get()
      if (now === undefined || now.stage === 'undoing' || now.changes.length === 0) return undefined
      become({ ...now, stage: 'undoing' })
      return store.get()
    },
    end: ({ id }, outcome) => {
      const now = store.get()
      // Another change may have replaced the undone one.
      if (now?.id !== id) return
      const failed = new Set(outcome.failures.map((failure) => failure.id))
      const changes = now.changes.filter(({ before }) => failed.has(before.id))
      become({ ...now, outcome, changes, stage: 'undone' })
      if (isLimited()) countdown.start(MIN_AFTER_PAUSE_MS)
    },
    dismiss: () => become(undefined),
  }
}

/** The last change of documents of this browser tab. */
export const lastChange: LastChangeStore = createLastChange()
