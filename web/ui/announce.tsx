import { useEffect, useId, useSyncExternalStore } from 'react'
import { createStore } from './store.ts'

/** How long, in milliseconds, an announcement is repeated on the page when its dialog closes. */
const REPEAT_WITHIN_MS = 1_000

/** Ids of the mounted live regions; the frontmost dialog's is last. */
const announcers: string[] = []
const message = createStore({ text: '', at: 0, announcer: '' })

/** Announces a message politely to screen readers: "tcp://127.0.0.1:8530 was added." */
export function announce(text: string): void {
  // Screen readers skip an unchanged message; a trailing space makes it different.
  const made = text === message.get().text ? `${text}\u00a0` : text
  message.set({ text: made, at: Date.now(), announcer: announcers.at(-1) ?? '' })
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
      const last = message.get()
      const fresh = last.announcer === id && Date.now() - last.at < REPEAT_WITHIN_MS
      if (fresh) message.set({ ...last, announcer: announcers.at(-1) ?? '' })
    }
  }, [id])
  const text = useSyncExternalStore(message.subscribe, () => {
    const { announcer, text } = message.get()
    return announcer === id ? text : ''
  })
  return (
    <div aria-live="polite" aria-atomic="true" className="visually-hidden">
      {text}
    </div>
  )
}
