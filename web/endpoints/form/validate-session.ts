import { atLeast } from '../../../server/contract/access/principal.ts'
import type { CurrentSession } from '../../../server/contract/access/session.ts'
import type { SignedIn } from '../../api/session/person.ts'

/**
 * Returns the reason why the current user cannot save a form that `me` opened, or `undefined`. All
 * tabs share the session cookie, so another user may have signed in since.
 */
export function validateSession(me: SignedIn, now: CurrentSession): string | undefined {
  if (now === null) return 'You are signed out. Sign in again, then save.'
  if (now.person.id !== me.id) {
    return `Not saved: ${now.person.username} is now signed in with this browser.`
  }
  if (atLeast(now.person.role, 'operator')) return undefined
  return `Not saved: you are now a ${now.person.role}. Only operators and admins can change endpoints.`
}
