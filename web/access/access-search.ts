import { ROLES, type Role } from '../../server/contract/access/principal.ts'

const textOf = (search: Record<string, unknown>, key: string) => {
  const value = search[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** URL search of the People page. It selects the open dialog. */
export interface PeopleSearch {
  /** Id of the person whose role change awaits confirmation, and the new role. */
  readonly change?: string
  readonly role?: Role
  /** Id of the person whose access is chosen. */
  readonly give?: string
  /** Whether the form of an invitation is open. */
  readonly invite?: string
  /** Id of the invitation whose deletion awaits confirmation. */
  readonly uninvite?: string
  /** On the page of a person: the id of the token whose revocation awaits confirmation. */
  readonly revoke?: string
}

/** Parses the URL search of the People page and drops unknown or invalid parameters. */
export function readPeopleSearch(search: Record<string, unknown>): PeopleSearch {
  const change = textOf(search, 'change')
  const role = ROLES.find((each) => each === search.role)
  for (const key of ['give', 'invite', 'uninvite', 'revoke'] as const) {
    const value = textOf(search, key)
    if (value !== undefined) return { [key]: value }
  }
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

/** URL search of the Providers page: the name of a provider, by the dialog that is open. */
export interface ProvidersSearch {
  readonly add?: string
  readonly edit?: string
  readonly remove?: string
  readonly test?: string
  /** Id of the test. */
  readonly id?: string
}

export function readProvidersSearch(search: Record<string, unknown>): ProvidersSearch {
  const text = (key: keyof ProvidersSearch) => {
    const value = textOf(search, key)
    return value === undefined ? {} : { [key]: value }
  }
  return { ...text('add'), ...text('edit'), ...text('remove'), ...text('test'), ...text('id') }
}
