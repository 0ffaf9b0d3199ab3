import type { EndpointChange, OtherConsole } from '../guard/check-changes.ts'
import { sameState } from './mapping.ts'

/** How long an undo is offered, ms. Hovering or focusing the bar pauses the countdown. */
export const UNDO_MS = 10_000

/** Minimum time that remains after a pause, ms. */
export const MIN_AFTER_PAUSE_MS = 3_000

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
  const listeners = new Set<() => void>()
  let now: Undo | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let left = 0
  let startedAt = 0

  const become = (next: Undo | undefined) => {
    clearTimeout(timer)
    timer = undefined
    now = next
    for (const listener of listeners) listener()
  }
  const run = (time: number) => {
    clearTimeout(timer)
    left = time
    startedAt = Date.now()
    timer = setTimeout(() => become(undefined), time)
  }
  return {
    current: () => now,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    offer: (made) => {
      const changes = made.filter(({ before, after }) => !sameState(before, after))
      if (changes.length === 0) return
      become({ stage: 'offered', changes })
      run(UNDO_MS)
    },
    offerConsole: (change, otherConsole) => become({ stage: 'disconnected', change, otherConsole }),
    pause: () => {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      left -= Date.now() - startedAt
    },
    resume: () => {
      if (now?.stage === 'offered' && timer === undefined) run(Math.max(left, MIN_AFTER_PAUSE_MS))
    },
    begin: () => {
      if (now?.stage !== 'offered' && now?.stage !== 'failed') return undefined
      const changes =
        now.stage === 'offered' ? now.changes : now.failures.map(({ change }) => change)
      become({ stage: 'undoing', changes })
      return changes
    },
    end: (failures) => {
      // Another change may have replaced the offer.
      if (now?.stage !== 'undoing') return
      become(failures.length === 0 ? undefined : { stage: 'failed', failures })
    },
    dismiss: () => become(undefined),
  }
}

/** The undo store of this page. Call `undo.offer([...])` after endpoints were changed. */
export const undo: UndoStore = createUndoStore()
