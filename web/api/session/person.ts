import { createContext, useContext } from 'react'
import { atLeast, type Role } from '../../../server/contract/access/principal.ts'
import { inScope } from '../../../server/contract/access/scope.ts'
import type { CurrentSession } from '../../../server/contract/access/session.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'

export type Session = NonNullable<CurrentSession>

export type SignedIn = Session['person']

/** How the session that the page was opened with ended. */
export type SessionEnd =
  /** The session ended. `why` is a sentence without its final period. */
  | { readonly by: 'sign-out'; readonly why: string }
  /** Another person signed in with this browser. */
  | { readonly by: 'another'; readonly username: string }

/** The session that the page was opened with, as last fetched. {@link SessionGate} provides it. */
export interface Presence {
  readonly person: SignedIn
  readonly end: SessionEnd | undefined
  /** Address of the endpoint that serves this page. */
  readonly endpoint: string
}

/** Provides {@link usePresence}; undefined outside the gate. */
export const PresenceContext = createContext<Presence | undefined>(undefined)

/** Returns who opened the page and how their session ended. Throws outside the gate. */
export function usePresence(): Presence {
  const presence = useContext(PresenceContext)
  if (presence === undefined) throw new Error('usePresence requires SessionGate')
  return presence
}

/** Returns the address of the endpoint that serves this page, also behind a proxy. */
export const useOwnEndpoint = (): string => usePresence().endpoint

/**
 * Returns whether a person has at least the needed role. What operators and admins change belongs to
 * `_system`, so a person who is limited to other databases has neither role.
 */
export const hasRole = ({ role, databases }: SignedIn, needed: Role): boolean =>
  atLeast(role, needed) && (!atLeast(needed, 'operator') || inScope(databases, SYSTEM_DATABASE))

/**
 * Returns whether the signed-in person has at least the needed role. The server enforces access;
 * this only decides which controls to show.
 */
export const useHasRole = (needed: Role): boolean => hasRole(usePresence().person, needed)

/** Returns the display name, or the username if the provider supplies none. */
export const nameOf = ({ name, username }: { name: string | null; username: string }): string =>
  name ?? username
