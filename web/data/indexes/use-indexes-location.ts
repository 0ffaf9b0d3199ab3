import { useParams, useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../../shared/use-dialog-navigation.ts'
import type { DataSearch } from '../data-search.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** Returns the Indexes page's URL search and functions that open and close its dialogs. */
export function useIndexesLocation() {
  const { database = '', collection = '' }: Partial<CollectionRef> = useParams({ strict: false })
  const search: DataSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: DataSearch) => ({
    to: '/data/$database/$collection/indexes',
    params: { database, collection },
    search: next,
  })
  return {
    collectionRef: { database, collection },
    search,
    create: () => dialogs.open(at({ create: '1' })),
    remove: (name: string) => dialogs.open(at({ remove: name })),
    close: () => dialogs.close(at({})),
  }
}
