import { createUndoCountdown } from '../../shared/ui/overlay/undo-countdown.ts'
import { createStore } from '../../shared/ui/store/store.ts'
import type { EndpointChange, OtherConsole } from '../guard/check-changes.ts'
import { sameState } from './mapping.ts'

/** A change that could not be undone, with the reason. */
export interface UndoFailed {
  readonly change: EndpointChange
  readonly reason: string
}

/** What the bar shows after endpoints were changed. */
export type Undo =
  /** The changes can be undone for a limited time. */
  | { readonly stage: 'offered'; readonly changes: readonly EndpointChange[] }
  | { readonly stage: 'undoing'; readonly changes: readonly EndpointChange[] }
  /** Some changes could not be undone. Shown until dismissed. */
  | { readonly stage: 'failed'; readonly failures: readonly UndoFailed[] }
  /** The change disconnected this page; the console continues at another endpoint. */
  | {
      readonly stage: 'disconnected'
      readonly change: EndpointChange
      readonly otherConsole: OtherConsole
    }

/** The current undo offer, a store for `useSyncExternalStore`. */
export interface UndoStore {
  current(): Undo | undefined
  /** Calls `listener` whenever {@link current} changes; returns its unsubscribe function. */
  subscribe(listener: () => void): () => void
  /**
   * Offers to undo the changes just made, replacing an earlier offer. Changes without effect are
   * omitted.
   */
  offer(changes: readonly EndpointChange[]): void
  /** Links to the console at another endpoint, after a change that disconnected this page. */
  offerConsole(change: EndpointChange, otherConsole: OtherConsole): void
  /** Pauses the countdown while the bar is hovered or focused. */
  pause(): void
  resume(): void
  /** Starts the undo and returns the offered or failed changes; `undefined` if there are none. */
  begin(): readonly EndpointChange[] | undefined
  /** Ends the undo. Without failures, the bar closes. */
  end(failures: readonly UndoFailed[]): void
  dismiss(): void
}

export function createUndoStore(): UndoStore {
  const store = createStore<Undo | undefined>(undefined)
  const countdown = createUndoCountdown(() => become(undefined))

  const become = (next: Undo | undefined) => {
    countdown.stop()
    store.set(next)
  }
  return {
    current: store.get,
    subscribe: store.subscribe,
    offer: (made) => {
      const changes = made.filter(({ before, after }) => !sameState(before, after))
      if (changes.length === 0) return
      become({ stage: 'offered', changes })
      countdown.start()
    },
    offerConsole: (change, otherConsole) => become({ stage: 'disconnected', change, otherConsole }),
    pause: countdown.pause,
    resume: () => {
      if (store.get()?.stage === 'offered') countdown.resume()
    },
    begin: () => {
      const now = store.get()
      if (now?.stage !== 'offered' && now?.stage !== 'failed') return undefined
      const changes =
        now.stage === 'offered' ? now.changes : now.failures.map(({ change }) => change)
      become({ stage: 'undoing', changes })
      return changes
    },
    end: (failures) => {
      // Another change may have replaced the offer.
      if (store.get()?.stage !== 'undoing') return
      become(failures.length === 0 ? undefined : { stage: 'failed', failures })
    },
    dismiss: () => become(undefined),
  }
}

/** The undo store of this page. Call `undo.offer([...])` after endpoints were changed. */
export const undo: UndoStore = createUndoStore()
