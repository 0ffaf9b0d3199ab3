import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useDialogNavigation } from '../../shared/use-dialog-navigation.ts'
import type { DatabaseSort } from './database-sort.ts'
import { type DatabasesSearch, readDatabasesSearch } from './databases-search.ts'

/**
 * Returns the Databases page's URL search and functions that navigate within it. Going back closes
 * the panel and the dialogs.
 */
export function useDatabasesLocation() {
  const search = useSearch({ from: '/databases' })
  const dialogs = useDialogNavigation()
  const actions = useMemo(() => {
    const at = (to: '/databases' | '/databases/new', change: DatabasesSearch) => ({
      to,
      search: (now: { q?: string; sort?: string }) =>
        readDatabasesSearch({ q: now.q, sort: now.sort, ...change }),
    })
    /** Keeps the panel open below a dialog. */
    const withPanel = (to: '/databases' | '/databases/import') => ({
      to,
      search: ({ q, sort, open }: Readonly<Record<string, unknown>>) =>
        readDatabasesSearch({ q, sort, open }),
    })
    return {
      create: () => dialogs.open(at('/databases/new', {})),
      /** Opens the import, into the database whose panel is open. */
      openImport: () => dialogs.open(withPanel('/databases/import')),
      closeImport: () => dialogs.close(withPanel('/databases')),
      drop: (name: string) => dialogs.open(at('/databases', { drop: name })),
      close: () => dialogs.close(at('/databases', {})),
      /** Closes the dialog that created or imported a database, and shows the database. */
      showDatabase: (name: string) => dialogs.close(at('/databases', { open: name })),
      // Do not push a history entry for each sort order.
      sort: (sort: DatabaseSort) => dialogs.replace(at('/databases', { sort })),
    }
  }, [dialogs])
  return { search, ...actions, link: dialogs.link }
}

/** Returns the path that downloads a whole database. */
export const exportPath = (database: string): string =>
  `/_db/${encodeURIComponent(database)}/_export`

/** Returns the link of a database in the table; null if its row is not rendered. */
export const findDatabaseLink = (name: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(name)}"] a`)
