import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import {
  type DocumentsSearch,
  type PagePosition,
  readDocumentsSearch,
  withoutDialog,
} from './documents-search.ts'

export interface CollectionRef {
  readonly database: string
  readonly collection: string
}

// Ids are arbitrary text such as "../a", which proxies and browsers would rewrite in a path, so
// they are in the URL search.

/**
 * Returns the Documents page's URL search and functions that navigate within it. Going back closes
 * a dialog.
 */
export function useDocumentsLocation() {
  const { database, collection }: Partial<CollectionRef> = useParams({ strict: false })
  const search: DocumentsSearch = useSearch({ strict: false })
  const navigate = useNavigate()

  const goTo = (to: Partial<CollectionRef>, next: DocumentsSearch = {}, replace = false) => {
    // A new page or filter scrolls to the top. A dialog keeps the scroll position.
    const resetScroll = (['after', 'cursor', 'filter'] as const).some(
      (key) => next[key] !== search[key],
    )
    const rest = { search: readDocumentsSearch({ ...next }), replace, resetScroll }
    if (to.database === undefined) void navigate({ to: '/documents', ...rest })
    else if (to.collection === undefined) {
      void navigate({ to: '/documents/$database', params: { database: to.database }, ...rest })
    } else {
      const params = { database: to.database, collection: to.collection }
      void navigate({ to: '/documents/$database/$collection', params, ...rest })
    }
  }
  const list = withoutDialog(search)
  const { filter, sort, columns, count, selected } = search
  const here = {
    ...(database === undefined ? {} : { database }),
    ...(collection === undefined ? {} : { collection }),
  }
  return {
    database,
    collection,
    search,
    list,
    goTo,
    open: (id: string, replace = false) => goTo(here, { ...list, open: id }, replace),
    edit: (id: string) => goTo(here, { ...list, edit: id }),
    remove: (id: string) => goTo(here, { ...list, remove: id }),
    create: () => goTo(here, { ...list, create: '1' }),
    load: () => goTo(here, { ...list, import: '1' }),
    empty: () => goTo(here, { ...list, empty: '1' }),
    bulk: (change: 'edit' | 'delete') => goTo(here, { ...list, bulk: change }),
    /** Changes the selection, and closes a dialog that changed the documents. */
    select: (text: string) => goTo(here, { ...list, selected: text }, true),
    follow: (job: string) => goTo(here, { filter, sort, columns, job }, true),
    close: () => goTo(here, list),
    /**
     * Changes the query, and returns to its first page. Another filter clears the selection, and is
     * counted on demand.
     */
    query: (change: Pick<DocumentsSearch, 'filter' | 'sort' | 'count'>) =>
      goTo(here, {
        filter,
        sort,
        columns,
        ...(change.filter === undefined && { count, selected }),
        ...change,
      }),
    setColumns: (text: string) => goTo(here, { ...list, columns: text }, true),
    page: (from: PagePosition) => goTo(here, { filter, sort, columns, count, selected, ...from }),
  }
}
