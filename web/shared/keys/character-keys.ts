import { useSyncExternalStore } from 'react'

/** Key in `localStorage` for whether character keys are off. */
const STORAGE_KEY = 'gatehouse-character-keys'

const listeners = new Set<() => void>()
// Used where storage is blocked; lasts as long as the page.
let fallback: boolean | undefined

/** Returns whether single-character shortcuts are on (WCAG 2.1.4). Default: on. */
export function characterKeysOn(): boolean {
  if (fallback !== undefined) return fallback
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'off'
  } catch {
    return true
  }
}

/** Turns single-character shortcuts on or off in all tabs of this browser. */
export function setCharacterKeys(on: boolean): void {
  try {
    if (on) localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, 'off')
  } catch {
    fallback = on
  }
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
