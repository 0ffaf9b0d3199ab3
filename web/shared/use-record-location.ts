import { useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from './use-dialog-navigation.ts'

/** The dialogs about one record, by the page that lists the records. */
const DIALOGS = {
  '/certificates': ['replace', 'remove'],
  '/webhooks': ['edit', 'rotate', 'remove'],
} as const

type Page = keyof typeof DIALOGS
type Dialog<P extends Page> = (typeof DIALOGS)[P][number]

/** URL search of a page of named records: the name of one, by what is open. */
export type RecordSearch<P extends Page> = { readonly [Open in 'open' | Dialog<P>]?: string }

/** Returns a function that parses the URL search and drops unknown or invalid parameters. */
export const readRecordSearch =
  <P extends Page>(page: P) =>
  (search: Record<string, unknown>): RecordSearch<P> => {
    const isName = (key: string) => typeof search[key] === 'string' && search[key] !== ''
    const keys = ['open', ...DIALOGS[page]].filter(isName)
    return Object.fromEntries(keys.map((key) => [key, search[key]])) as RecordSearch<P>
  }

/** Returns the URL search of a page of named records and functions that navigate within it. */
export function useRecordLocation<P extends Page>(to: P) {
  const search: RecordSearch<P> = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: Readonly<Record<string, string>>) => ({ to, search: next })
  /** Keeps the details open below a dialog. */
  const { open } = search
  const below: Readonly<Record<string, string>> = open === undefined ? {} : { open }
  return {
    search,
    toggle: (name: string) => dialogs.replace(at(open === name ? {} : { open: name })),
    add: () => dialogs.open({ to: `${to}/new` }),
    openDialog: (dialog: Dialog<P>, name: string) => dialogs.open(at({ ...below, [dialog]: name })),
    close: () => dialogs.close(at(below)),
    closeRemoved: () => dialogs.close(at({})),
    /** Closes a dialog, and shows the details of a record. */
    show: (name: string) => dialogs.close(at({ open: name })),
  }
}
