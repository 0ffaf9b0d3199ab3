import { useLocation, useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import type { AccessSearch } from './access-search.ts'

/** The form of a new token has a path below that of its page. */
const NEW_TOKEN = /\/new(-token)?$/

/**
 * Returns the URL search of a page of people, tokens or providers, and functions that navigate within
 * it. Going back closes a dialog.
 */
export function useAccessLocation() {
  const search: AccessSearch = useSearch({ strict: false })
  const path = useLocation({ select: ({ pathname }) => pathname.replace(NEW_TOKEN, '') })
  const dialogs = useDialogNavigation()
  const at = (next: AccessSearch) => ({ to: path, search: next })
  return {
    search,
    open: (next: AccessSearch) => dialogs.open(at(next)),
    /** Opens the form of a new token. */
    addToken: () => dialogs.open({ to: path === '/me' ? '/me/new-token' : '/access/tokens/new' }),
    close: () => dialogs.close(at({})),
  }
}
