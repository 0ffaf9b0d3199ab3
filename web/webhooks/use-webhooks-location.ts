import { useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import type { WebhooksSearch } from './webhooks-search.ts'

/** Returns the URL search of the Webhooks page and functions that navigate within it. */
export function useWebhooksLocation() {
  const search: WebhooksSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: WebhooksSearch) => ({ to: '/webhooks', search: next })
  /** Keeps the details open below a dialog. */
  const { open } = search
  const below = open === undefined ? {} : { open }
  return {
    search,
    toggle: (name: string) => dialogs.replace(at(open === name ? {} : { open: name })),
    add: () => dialogs.open({ to: '/webhooks/new' }),
    openDialog: (dialog: 'edit' | 'rotate' | 'remove', name: string) =>
      dialogs.open(at({ ...below, [dialog]: name })),
    close: () => dialogs.close(at(below)),
    closeRemoved: () => dialogs.close(at({})),
    /** Closes a dialog, and shows the details of a webhook. */
    show: (name: string) => dialogs.close(at({ open: name })),
  }
}
