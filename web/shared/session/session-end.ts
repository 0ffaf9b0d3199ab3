import { SESSION_IDLE } from '../../server/contract/session-use.ts'
import type { Session } from '../person.ts'

/** What {@link sayWhyEnded} takes into account; times are milliseconds since 1970. */
export interface EndFacts {
  /** The session as it was read last. */
  readonly session: Session
  /** When the page last asked for something because somebody was there. */
  readonly lastUse: number
  readonly now: number
}

/** The server writes down the use of a session this often only: so much sooner it may have ended. */
const TOUCH_MS = 60_000

/** Why a session is not there any more, as far as a page can tell; a sentence without full stop. */
export function sayWhyEnded({ session, lastUse, now }: EndFacts): string {
  const { expires, idleExpires } = session
  if (expires !== null && now >= Date.parse(expires)) {
    return 'You were signed out: a session ends some days after its sign-in, used or not'
  }
  // It may have been used from another page as well, up to when it was read.
  const idleEnd = Math.max(lastUse + SESSION_IDLE, Date.parse(idleExpires ?? '') || 0)
  if (now >= idleEnd - TOUCH_MS) {
    return `You were signed out after ${SESSION_IDLE / 3_600_000} hours without activity`
  }
  return 'You were signed out: this session was ended'
}
