import type { EndpointRecord } from '../../server/contract/endpoint.ts'

/** How long an undo is offered, ms; the time stands still while it is held. */
export const UNDO_MS = 10_000

/** What is left at least once it is let go, ms: whoever looked away a moment still finds it. */
export const AFTER_HOLD_MS = 3_000

/** Why an endpoint could not be brought back. */
export interface NotRestored {
  readonly record: EndpointRecord
  readonly reason: string
}

/** What the bar says after a removal. */
export type Undo =
  /** It can be taken back, for a while. */
  | { readonly stage: 'offered'; readonly removed: readonly EndpointRecord[] }
  | { readonly stage: 'restoring'; readonly removed: readonly EndpointRecord[] }
  /** Some could not be brought back; stays until it is closed. */
  | { readonly stage: 'failed'; readonly failures: readonly NotRestored[] }
  /** One's own endpoint was removed: no undo reaches the server from here, another page does. */
  | {
      readonly stage: 'way-out'
      readonly removed: string
      readonly to: string
      readonly url: string
    }

/** The one undo that is offered now. A store for `useSyncExternalStore`. */
export interface UndoStore {
  current(): Undo | undefined
  /** Calls back whenever {@link current} has changed; returns its own unsubscribe. */
  subscribe(listener: () => void): () => void
  /**
   * Offers to bring back what was removed just now, several at once too, with the mappings they had.
   * The latest offer takes the place of an earlier one. Nothing removed: nothing offered.
   */
  offer(removed: readonly EndpointRecord[]): void
  /** Leads to the console at another endpoint, after the removal of one's own. */
  leadOut(way: { readonly removed: string; readonly to: string; readonly url: string }): void
  /** Stops the time while the bar is pointed at or focused. */
  hold(): void
  release(): void
  /** Takes up what is offered, or what failed; `undefined` where there is nothing to do. */
  begin(): readonly EndpointRecord[] | undefined
  /** Tells how it went; without failures the bar goes. */
  end(failures: readonly NotRestored[]): void
  dismiss(): void
}

/** Makes an {@link UndoStore}; the console has one, {@link undo}. */
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
    offer: (removed) => {
      if (removed.length === 0) return
      become({ stage: 'offered', removed })
      run(UNDO_MS)
    },
    leadOut: (way) => become({ stage: 'way-out', ...way }),
    hold: () => {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      left -= Date.now() - startedAt
    },
    release: () => {
      if (now?.stage === 'offered' && timer === undefined) run(Math.max(left, AFTER_HOLD_MS))
    },
    begin: () => {
      if (now?.stage !== 'offered' && now?.stage !== 'failed') return undefined
      const removed =
        now.stage === 'offered' ? now.removed : now.failures.map(({ record }) => record)
      become({ stage: 'restoring', removed })
      return removed
    },
    end: (failures) => {
      // Meanwhile another removal may have made an offer of its own.
      if (now?.stage !== 'restoring') return
      become(failures.length === 0 ? undefined : { stage: 'failed', failures })
    },
    dismiss: () => become(undefined),
  }
}

/** The undo of this page. Whoever removes endpoints calls `undo.offer([...])` once they are gone. */
export const undo: UndoStore = createUndoStore()
