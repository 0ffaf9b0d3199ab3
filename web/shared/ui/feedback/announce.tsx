import { useEffect, useId, useSyncExternalStore } from 'react'

/** How long, in milliseconds, an announcement is repeated on the page when its dialog closes. */
const REPEAT_WITHIN_MS = 1_000

const listeners = new Set<() => void>()
/** Ids of the mounted live regions; the frontmost dialog's is last. */
const announcers: string[] = []
let message = { text: '', at: 0, announcer: '' }

function setMessage(next: typeof message): void {
  message = next
  for (const listener of listeners) listener()
}

/** Announces a message politely to screen readers: "tcp://127.0.0.1:8530 was added." */
export function announce(text: string): void {
  // Screen readers skip an unchanged message; a trailing space makes it different.
  const made = text === message.text ? `${text}\u00a0` : text
  setMessage({ text: made, at: Date.now(), announcer: announcers.at(-1) ?? '' })
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Live region for {@link announce}. Rendered once in the page and once in each dialog, because some
 * screen readers ignore announcements outside a modal dialog. Only the frontmost region speaks.
 */
export function Announcer() {
  const id = useId()
  useEffect(() => {
    announcers.push(id)
    return () => {
      announcers.splice(announcers.indexOf(id), 1)
      // Repeat a recent message of the closing dialog in the page.
      const fresh = message.announcer === id && Date.now() - message.at < REPEAT_WITHIN_MS
      if (fresh) setMessage({ ...message, announcer: announcers.at(-1) ?? '' })
    }
  }, [id])
  const text = useSyncExternalStore(subscribe, () => (message.announcer === id ? message.text : ''))
  return (
    <div aria-live="polite" aria-atomic="true" className="visually-hidden">
      {text}
    </div>
  )
}
