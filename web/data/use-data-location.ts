import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { type DataSearch, type PagePosition, readDataSearch, withoutDialog } from './data-search.ts'

export interface CollectionRef {
  readonly database: string
  readonly collection: string
}

/** Returns the name that distinguishes a collection from those of other databases: `blog/articles`. */
export const formatCollection = ({ database, collection }: CollectionRef) =>
  `${database}/${collection}`

// Ids are arbitrary text such as "../a", which proxies and browsers would rewrite in a path, so
// they are in the URL search.

/**
 * Returns the URL search of the Data page and functions that navigate within it. Going back closes
 * a dialog.
 */
export function useDataLocation() {
  const { database, collection }: Partial<CollectionRef> = useParams({ strict: false })
  const search: DataSearch = useSearch({ strict: false })
  const navigate = useNavigate()

  const dialogs = useDialogNavigation()
  const at = ({ database, collection }: Partial<CollectionRef>, next: DataSearch = {}) => ({
    ...pathOf(database, collection),
    search: readDataSearch({ q: search.q, ...next }),
  })
  const list = withoutDialog(search)
  const { filter, sort, columns, count, selected, open, edit, create } = search
  const here = {
    ...(database === undefined ? {} : { database }),
    ...(collection === undefined ? {} : { collection }),
  }
  const openDialog = (dialog: DataSearch) => dialogs.open(at(here, { ...list, ...dialog }))
  const show = (next: DataSearch) => void navigate(at(here, next))
  return {
    database,
    collection,
    search,
    list,
    /** The URL of a collection, a database, or the databases. */
    at,
    /** Shows all documents of a collection, the collections of a database, or the databases. */
    goTo: (to: Partial<CollectionRef>) => void navigate(at(to)),
    open: (id: string) => openDialog({ open: id }),
    edit: (id: string) => openDialog({ edit: id }),
    remove: (id: string) => openDialog({ remove: id }),
    create: () => openDialog({ create: '1' }),
    load: () => openDialog({ import: '1' }),
    empty: () => openDialog({ empty: '1' }),
    bulk: (change: 'edit' | 'delete') => openDialog({ bulk: change }),
    /** Changes the selection, and closes a dialog that changed the documents. A panel stays open. */
    select: (text: string) =>
      dialogs.replace(at(here, { ...list, open, edit, create, selected: text })),
    follow: (job: string) => dialogs.replace(at(here, { filter, sort, columns, job })),
    close: () => dialogs.close(at(here, list)),
    /** Closes the dialog and shows a document that it stored. */
    showStored: (id: string, to: CollectionRef) => dialogs.close(at(to, { ...list, open: id })),
    /** Closes the dialog and shows the documents of a collection. */
    showCollection: (to: CollectionRef, next: DataSearch = {}) => dialogs.close(at(to, next)),
    /** Counts the documents that match. */
    count: () => show({ ...list, count: '1' }),
    /**
     * Changes the query, and returns to its first page. Another filter clears the selection, and is
     * counted on demand.
     */
    query: (change: Pick<DataSearch, 'filter' | 'sort'>) =>
      show({
        filter,
        sort,
        columns,
        ...(change.filter === undefined && { count, selected }),
        ...change,
      }),
    createDatabase: () => openDialog({ dialog: 'create' }),
    /** Opens the import of a database, into the one that is shown. */
    importDatabase: () => openDialog({ dialog: 'import' }),
    dropDatabase: () => openDialog({ dialog: 'drop' }),
    /** Closes the dialog and shows a database, or the list of them. */
    showDatabase: (name?: string) =>
      dialogs.leave(at(name === undefined ? {} : { database: name })),
    /** Sorts the databases. */
    sort: (text: string) => dialogs.replace(at(here, { sort: text })),
    setColumns: (text: string) => dialogs.replace(at(here, { ...list, columns: text })),
    page: (from: PagePosition) => show({ filter, sort, columns, count, selected, ...from }),
  }
}

function pathOf(database: string | undefined, collection: string | undefined) {
  if (database === undefined) return { to: '/data' } as const
  if (collection === undefined) return { to: '/data/$database', params: { database } } as const
  return { to: '/data/$database/$collection', params: { database, collection } } as const
}
