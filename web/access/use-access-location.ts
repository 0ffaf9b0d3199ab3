import { useSearch } from '@tanstack/react-router'
import { ROLES, type Role } from '../../server/contract/access/principal.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'

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
  const dialogs = useDialogNavigation()
  const at = (next: PeopleSearch) => ({ to: '/access/people', search: next })
  return {
    search,
    showSessions: (sessions: string) => dialogs.open(at({ sessions })),
    confirmRole: (person: string, role: Role) => dialogs.open(at({ change: person, role })),
    close: () => dialogs.close(at({})),
  }
}

/** Path of a page that lists tokens: all tokens, or the person's own. */
export type TokensPath = '/access/tokens' | '/me'

/** Returns the URL search of a page with tokens and functions that navigate within it. */
export function useTokensLocation(path: TokensPath) {
  const search: TokensSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  return {
    search,
    add: () => dialogs.open({ to: path === '/me' ? '/me/new-token' : '/access/tokens/new' }),
    revoke: (id: string) => dialogs.open({ to: path, search: { revoke: id } }),
    close: () => dialogs.close({ to: path, search: {} }),
  }
}
