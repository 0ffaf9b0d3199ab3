import { useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'

/** URL search of the Certificates page: the name of a certificate, by what is open. */
export interface CertificatesSearch {
  readonly open?: string
  readonly replace?: string
  readonly remove?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
export function readCertificatesSearch(search: Record<string, unknown>): CertificatesSearch {
  const text = (key: keyof CertificatesSearch) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return { ...text('open'), ...text('replace'), ...text('remove') }
}

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
