import { SESSION_IDLE, USE_RECORD_INTERVAL } from '../../../server/contract/access/session.ts'
import type { Session } from '../../api/session/person.ts'

/** Input of {@link formatEndReason}. Times are milliseconds since the Unix epoch. */
export interface SessionEndInput {
  /** The session as last fetched. */
  readonly session: Session
  /** When this page last sent a request that counted as use of the session. */
  readonly lastUse: number
  readonly now: number
}

/**
 * Returns why a session ended, as far as the page can tell, as a sentence without its final period.
 */
export function formatEndReason({ session, lastUse, now }: SessionEndInput): string {
  const { expires, idleExpires } = session
  if (expires !== null && now >= Date.parse(expires)) {
    return 'You were signed out because the session expired'
  }
  // Another page may also have used the session before it was fetched.
  const idleEnd = Math.max(lastUse + SESSION_IDLE, Date.parse(idleExpires ?? '') || 0)
  // The last uses may not be recorded, so the session may have ended this much earlier.
  if (now >= idleEnd - USE_RECORD_INTERVAL) {
    return `You were signed out after ${SESSION_IDLE / 3_600_000} hours without activity`
  }
  return 'You were signed out because this session was ended'
}
