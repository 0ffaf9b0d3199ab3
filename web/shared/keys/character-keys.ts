import { useSyncExternalStore } from 'react'

/** Where this browser keeps that character keys are switched off. */
const PLACE = 'gatehouse-character-keys'

const listeners = new Set<() => void>()
// Where storage is forbidden, the choice holds for as long as the page does.
let unkept: boolean | undefined

/** Whether keys that are a character alone act (WCAG 2.1.4); they do unless switched off. */
export function characterKeysOn(): boolean {
  if (unkept !== undefined) return unkept
  try {
    return localStorage.getItem(PLACE) !== 'off'
  } catch {
    return true
  }
}

/** Switches character keys on or off, in all tabs of this browser. */
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

/** {@link characterKeysOn}, kept up to date. */
export const useCharacterKeys = (): boolean => useSyncExternalStore(subscribe, characterKeysOn)
