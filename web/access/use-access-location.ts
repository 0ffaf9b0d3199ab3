import { useNavigate, useSearch } from '@tanstack/react-router'
import { ROLES, type Role } from '../../server/contract/role.ts'

const textOf = (search: Record<string, unknown>, key: string) => {
  const value = search[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What the URL of the people's page says: the dialog that is open. */
export interface PeopleSearch {
  /** The id of the person whose sessions are shown. */
  readonly sessions?: string
  /** The id of the person who is to have another role, and that role. */
  readonly change?: string
  readonly role?: Role
}

/** Reads the search part of the URL of the people's page; anything else in it is dropped. */
export function readPeopleSearch(search: Record<string, unknown>): PeopleSearch {
  const sessions = textOf(search, 'sessions')
  const change = textOf(search, 'change')
  const role = ROLES.find((each) => each === search.role)
  if (sessions !== undefined) return { sessions }
  return change !== undefined && role !== undefined ? { change, role } : {}
}

/** What the URL of a page with tokens says: the token that is asked about before it is revoked. */
export interface TokensSearch {
  readonly revoke?: string
}

/** Reads the search part of the URL of a page with tokens. */
export function readTokensSearch(search: Record<string, unknown>): TokensSearch {
  const revoke = textOf(search, 'revoke')
  return revoke === undefined ? {} : { revoke }
}

/** Where the people's page stands, and the ways within it. Going back closes a dialog. */
export function usePeopleLocation() {
  const search = useSearch({ from: '/access/people' })
  const navigate = useNavigate()
  const go = (next: PeopleSearch) => void navigate({ to: '/access/people', search: next })
  return {
    search,
    showSessions: (sessions: string) => go({ sessions }),
    askRole: (change: string, role: Role) => go({ change, role }),
    close: () => go({}),
  }
}

/** The two pages that list tokens: everybody's, and one's own. */
export type TokensPath = '/access/tokens' | '/me'

/** Where a page with tokens stands, and the ways within it. */
export function useTokensLocation(path: TokensPath) {
  const search: TokensSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  return {
    search,
    add: () => void navigate({ to: path === '/me' ? '/me/new-token' : '/access/tokens/new' }),
    revoke: (id: string) => void navigate({ to: path, search: { revoke: id } }),
    close: () => void navigate({ to: path, search: {} }),
  }
}
