import { useSyncExternalStore } from 'react'

/** A value that lives outside of components. */
export interface Store<T> {
  readonly get: () => T
  /** Replaces the value and calls all listeners. */
  readonly set: (value: T) => void
  /** Calls `listener` after each {@link set}; returns its unsubscribe function. */
  readonly subscribe: (listener: () => void) => () => void
}

export function createStore<T>(initial: T): Store<T> {
  const listeners = new Set<() => void>()
  let value = initial
  return {
    get: () => value,
    set: (next) => {
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns the value of a store. The component renders again when it changes. */
export const useStore = <T>({ get, subscribe }: Store<T>): T => useSyncExternalStore(subscribe, get)
