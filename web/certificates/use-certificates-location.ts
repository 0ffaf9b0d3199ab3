import { useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import type { CertificatesSearch } from './certificates-search.ts'

/** Returns the URL search of the Certificates page and functions that navigate within it. */
export function useCertificatesLocation() {
  const search: CertificatesSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: CertificatesSearch) => ({ to: '/certificates', search: next })
  /** Keeps the details open below a dialog. */
  const { open } = search
  const below = open === undefined ? {} : { open }
  return {
    search,
    toggle: (name: string) => dialogs.replace(at(open === name ? {} : { open: name })),
    add: () => dialogs.open({ to: '/certificates/new' }),
    replace: (name: string) => dialogs.open(at({ ...below, replace: name })),
    remove: (name: string) => dialogs.open(at({ ...below, remove: name })),
    close: () => dialogs.close(at(below)),
    closeRemoved: () => dialogs.close(at({})),
    /** Closes a dialog, and shows the details of a certificate. */
    show: (name: string) => dialogs.close(at({ open: name })),
  }
}
