// Tracks whether a person is at this page. Only a person's activity extends the session; background
// requests of an open page do not.

/** How long a person counts as present after the last input, in ms. */
const PRESENT_MS = 60_000

/** When the person last interacted with this page, and when a request last counted as use. */
let touched = Date.now()
let used = touched

const touch = () => {
  touched = Date.now()
}
// Node, where the pure parts are tested, has no `addEventListener`.
if (typeof addEventListener === 'function') {
  for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'focus']) {
    addEventListener(type, touch, { capture: true, passive: true })
  }
}

/** Returns whether a request sent now counts as use of the session, and records it if so. */
export function recordRequest(): boolean {
  const now = Date.now()
  const isUse = now - touched < PRESENT_MS
  if (isUse) used = now
  return isUse
}

/** Returns when this page last used the session, in ms since the Unix epoch. */
export const lastUse = (): number => used
