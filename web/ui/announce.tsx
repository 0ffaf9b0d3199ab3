import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let said = ''

/** Tells a screen reader what has happened, politely: "tcp://127.0.0.1:8530 was added." */
export function announce(text: string): void {
  // The same sentence twice would not be read again; a space that nobody hears makes it another.
  said = text === said ? `${text}\u00a0` : text
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The place where {@link announce} is heard; once in the page. */
export function Announcer() {
  const text = useSyncExternalStore(subscribe, () => said)
  return (
    <div role="status" className="visually-hidden">
      {text}
    </div>
  )
}
