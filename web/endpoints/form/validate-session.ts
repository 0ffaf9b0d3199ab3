import { atLeast } from '../../../server/contract/access/role.ts'
import type { CurrentSession } from '../../../server/contract/access/session.ts'
import type { SignedIn } from '../../shared/session/person.ts'

/**
 * Returns the reason why the current user cannot save a form that `me` opened, or `undefined`. All
 * tabs share the session cookie, so another user may have signed in since.
 */
export function validateSession(me: SignedIn, now: CurrentSession): string | undefined {
  if (now === null) return 'You are signed out. Sign in again, then save.'
  if (now.person.id !== me.id) {
    return `It was not saved: in this browser ${now.person.username} is signed in now.`
  }
  if (atLeast(now.person.role, 'operator')) return undefined
  return `It was not saved: you are a ${now.person.role} now, and endpoints are changed by operators.`
}
