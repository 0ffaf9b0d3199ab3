// Whether anybody is at this page. Only what somebody does extends the session; a page that is left
// open, and reads by itself, does not.

/** So long after the last touch of a key, a pointer or the screen somebody is still there, ms. */
const PRESENT_MS = 60_000

/** When somebody last did anything on this page, and when a request last counted as use. */
let touched = Date.now()
let used = touched

const touch = () => {
  touched = Date.now()
}
// Node has none of this, where the pure parts are tested.
if (typeof addEventListener === 'function') {
  for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'focus']) {
    addEventListener(type, touch, { capture: true, passive: true })
  }
}

/** Whether a request that is made now is use of the session; notes that it is. */
export function noteRequest(): boolean {
  const now = Date.now()
  const isUse = now - touched < PRESENT_MS
  if (isUse) used = now
  return isUse
}

/** When the session was last used from this page, ms since 1970. */
export const lastUse = (): number => used
