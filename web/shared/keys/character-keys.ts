import { useSyncExternalStore } from 'react'
import { sharedStorage } from '../browser-storage.ts'

/** Key in `localStorage` for whether character keys are off. */
const STORAGE_KEY = 'gatehouse-character-keys'

const listeners = new Set<() => void>()
// Used where storage is blocked; lasts as long as the page.
let fallback: boolean | undefined

/** Returns whether single-character shortcuts are on (WCAG 2.1.4). Default: on. */
export function characterKeysOn(): boolean {
  return fallback ?? sharedStorage.get(STORAGE_KEY) !== 'off'
}

/** Turns single-character shortcuts on or off in all tabs of this browser. */
export function setCharacterKeys(on: boolean): void {
  const isStored = on ? sharedStorage.remove(STORAGE_KEY) : sharedStorage.set(STORAGE_KEY, 'off')
  fallback = isStored ? undefined : on
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** Returns {@link characterKeysOn} and renders again when it changes. */
export const useCharacterKeys = (): boolean => useSyncExternalStore(subscribe, characterKeysOn)
