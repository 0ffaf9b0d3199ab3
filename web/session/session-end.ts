import type { Session } from '../person.ts'

/** What {@link sayWhyEnded} takes into account; times are milliseconds since 1970. */
export interface EndFacts {
  /** The session as it was read at `readAt`. */
  readonly session: Session
  readonly readAt: number
  /** When the server last answered anything. */
  readonly lastHeard: number
  readonly now: number
}

/** The server writes down the use of a session this often only: so much sooner it may have ended. */
const TOUCH_MS = 60_000

const HOUR_MS = 3_600_000

/** Why a session is not there any more, as far as a page can tell; a sentence without full stop. */
export function sayWhyEnded({ session, readAt, lastHeard, now }: EndFacts): string {
  const { expires, idleExpires } = session
  const idle = idleExpires === null ? Number.POSITIVE_INFINITY : Date.parse(idleExpires) - readAt
  if (now - lastHeard >= idle - TOUCH_MS) {
    return `You were signed out after ${sayHours(idle)} without activity`
  }
  if (expires !== null && now >= Date.parse(expires)) {
    return 'You were signed out: a session ends some days after its sign-in, used or not'
  }
  return 'You were signed out: this session was ended'
}

function sayHours(milliseconds: number): string {
  const hours = Math.round(milliseconds / HOUR_MS)
  if (hours >= 1) return hours === 1 ? 'an hour' : `${hours} hours`
  return 'some time'
}
