import { ROLES, type Role } from '../../server/contract/access/principal.ts'

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
