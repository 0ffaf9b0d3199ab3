import { useSyncExternalStore } from 'react'

/** Key in `localStorage` for whether character keys are off. */
const PLACE = 'gatehouse-character-keys'

const listeners = new Set<() => void>()
// Used where storage is blocked; lasts as long as the page.
let unkept: boolean | undefined

/** Returns whether single-character shortcuts are on (WCAG 2.1.4). Default: on. */
export function characterKeysOn(): boolean {
  if (unkept !== undefined) return unkept
  try {
    return localStorage.getItem(PLACE) !== 'off'
  } catch {
    return true
  }
}

/** Turns single-character shortcuts on or off in all tabs of this browser. */
export function setCharacterKeys(on: boolean): void {
  try {
    if (on) localStorage.removeItem(PLACE)
    else localStorage.setItem(PLACE, 'off')
  } catch {
    unkept = on
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
