import { useSyncExternalStore } from 'react'

let isPrinting = false
const listeners = new Set<() => void>()

function set(now: boolean): void {
  isPrinting = now
  for (const listener of listeners) listener()
}

// Node, where the pure parts are tested, has no `addEventListener`.
if (typeof addEventListener === 'function') {
  addEventListener('beforeprint', () => set(true))
  addEventListener('afterprint', () => set(false))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns whether the page is being printed. */
export const usePrinting = (): boolean => useSyncExternalStore(subscribe, () => isPrinting)
