import { atLeast } from '../../server/contract/role.ts'
import type { CurrentSession } from '../../server/contract/session.ts'
import type { SignedIn } from '../person.ts'

/**
 * Why a form that one person opened cannot be saved by whoever is signed in now, in a sentence;
 * `undefined` where it can. The cookie is the browser's: it may be another person's by now, in whose
 * name nothing is to be saved.
 */
export function whyNotSave(me: SignedIn, now: CurrentSession): string | undefined {
  if (now === null) return 'You are signed out. Sign in again, then save.'
  if (now.person.id !== me.id) {
    return `It was not saved: in this browser ${now.person.username} is signed in now.`
  }
  if (atLeast(now.person.role, 'operator')) return undefined
  return `It was not saved: you are a ${now.person.role} now, and endpoints are changed by operators.`
}
