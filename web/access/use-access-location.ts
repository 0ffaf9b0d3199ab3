import { useNavigate, useSearch } from '@tanstack/react-router'
import { ROLES, type Role } from '../../server/contract/access/role.ts'

const textOf = (search: Record<string, unknown>, key: string) => {
  const value = search[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** URL search of the People page. It selects the open dialog. */
export interface PeopleSearch {
  /** Id of the person whose sessions are shown. */
  readonly sessions?: string
  /** Id of the person whose role change awaits confirmation, and the new role. */
  readonly change?: string
  readonly role?: Role
}

/** Parses the URL search of the People page and drops unknown or invalid parameters. */
export function readPeopleSearch(search: Record<string, unknown>): PeopleSearch {
  const sessions = textOf(search, 'sessions')
  const change = textOf(search, 'change')
  const role = ROLES.find((each) => each === search.role)
  if (sessions !== undefined) return { sessions }
  return change !== undefined && role !== undefined ? { change, role } : {}
}

/** URL search of a page with tokens: the id of the token whose revocation awaits confirmation. */
export interface TokensSearch {
  readonly revoke?: string
}

export function readTokensSearch(search: Record<string, unknown>): TokensSearch {
  const revoke = textOf(search, 'revoke')
  return revoke === undefined ? {} : { revoke }
}

/**
 * Returns the People page's URL search and functions that navigate within it. Going back closes a
 * dialog.
 */
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

/** Path of a page that lists tokens: all tokens, or the person's own. */
export type TokensPath = '/access/tokens' | '/me'

/** Returns the URL search of a page with tokens and functions that navigate within it. */
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
