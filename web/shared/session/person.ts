import { createContext, useContext } from 'react'
import { atLeast, type Role } from '../server/contract/role.ts'
import type { CurrentSession } from '../server/contract/session.ts'

/** A session while it lasts. */
export type Session = NonNullable<CurrentSession>

/** Whoever is signed in. */
export type SignedIn = Session['person']

/** What became of the session with which the page was opened. */
export type SessionEnd =
  /** It ended; `why` is a sentence without its full stop. */
  | { readonly by: 'sign-out'; readonly why: string }
  /** Another person signed in, in this browser. */
  | { readonly by: 'another'; readonly username: string }

/** Who opened the page, and what became of the session; set by the gate before every page. */
export interface Presence {
  readonly person: SignedIn
  readonly end: SessionEnd | undefined
}

/** Where {@link usePresence} reads; undefined outside of the gate. */
export const PresenceContext = createContext<Presence | undefined>(undefined)

/** Who opened the page, and what became of the session. */
export function usePresence(): Presence {
  const presence = useContext(PresenceContext)
  if (presence === undefined) throw new Error('usePresence is for what is behind the gate')
  return presence
}

/** Whether the person may what a role may. The server judges; this decides what is offered. */
export const useMay = (needed: Role): boolean => atLeast(usePresence().person.role, needed)

/** What a person is called: by name where the provider tells one. */
export const nameOf = ({ name, username }: { name: string | null; username: string }): string =>
  name ?? username
