import { useSearch } from '@tanstack/react-router'
import type { Role } from '../../server/contract/access/principal.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import type { PeopleSearch, TokensSearch } from './access-search.ts'

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
