import { useParams, useSearch } from '@tanstack/react-router'
import type { Role } from '../../server/contract/access/principal.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import type { PeopleSearch, ProvidersSearch, TokensSearch } from './access-search.ts'

/**
 * Returns the URL search of the People page, or of the page of a person, and functions that navigate
 * within it. Going back closes a dialog.
 */
export function usePeopleLocation() {
  const search: PeopleSearch = useSearch({ strict: false })
  const { id } = useParams({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: PeopleSearch) =>
    id === undefined
      ? { to: '/access/people', search: next }
      : { to: '/access/people/$id', params: { id }, search: next }
  const open = (next: PeopleSearch) => dialogs.open(at(next))
  return {
    search,
    open,
    confirmRole: (person: string, role: Role) => open({ change: person, role }),
    close: () => dialogs.close(at({})),
  }
}

/** Returns the URL search of the Providers page and functions that navigate within it. */
export function useProvidersLocation() {
  const search: ProvidersSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: ProvidersSearch) => ({ to: '/access/providers', search: next })
  return {
    search,
    open: (next: ProvidersSearch) => dialogs.open(at(next)),
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
