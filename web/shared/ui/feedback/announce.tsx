import { useEffect, useId, useSyncExternalStore } from 'react'

/** So long after it was said a sentence is taken over from a dialog that closes, in milliseconds. */
const FRESH_MS = 1_000

const listeners = new Set<() => void>()
/** The places where it is heard, the dialog in front last. */
const places: string[] = []
let said = { text: '', at: 0, place: '' }

function tell(next: typeof said): void {
  said = next
  for (const listener of listeners) listener()
}

/** Tells a screen reader what has happened, politely: "tcp://127.0.0.1:8530 was added." */
export function announce(text: string): void {
  // The same sentence twice would not be read again; a space that nobody hears makes it another.
  const made = text === said.text ? `${text}\u00a0` : text
  tell({ text: made, at: Date.now(), place: places.at(-1) ?? '' })
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * A place where {@link announce} is heard: once in the page, and once in each dialog, as what is said
 * outside of a modal dialog is not heard in it by every screen reader. The one in front speaks.
 */
export function Announcer() {
  const id = useId()
  useEffect(() => {
    places.push(id)
    return () => {
      places.splice(places.indexOf(id), 1)
      // Said as the dialog closes, it is heard on the page.
      const fresh = said.place === id && Date.now() - said.at < FRESH_MS
      if (fresh) tell({ ...said, place: places.at(-1) ?? '' })
    }
  }, [id])
  const text = useSyncExternalStore(subscribe, () => (said.place === id ? said.text : ''))
  return (
    <div aria-live="polite" aria-atomic="true" className="visually-hidden">
      {text}
    </div>
  )
}
