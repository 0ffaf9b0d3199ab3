import { createStore, useStore } from '../store.ts'

const isPrinting = createStore(false)

// Node, where the pure parts are tested, has no `addEventListener`.
if (typeof addEventListener === 'function') {
  addEventListener('beforeprint', () => isPrinting.set(true))
  addEventListener('afterprint', () => isPrinting.set(false))
}

/** Returns whether the page is being printed. */
export const usePrinting = (): boolean => useStore(isPrinting)
