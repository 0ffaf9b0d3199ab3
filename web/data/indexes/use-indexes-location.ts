import { useParams, useSearch } from '@tanstack/react-router'
import { useDialogNavigation } from '../../shared/use-dialog-navigation.ts'
import type { CollectionRef } from '../use-documents-location.ts'

/** URL search of the Indexes page. */
export interface IndexesSearch {
  /** Set to any text while the create dialog is open. */
  readonly create?: string
  /** Name of the index to delete. */
  readonly remove?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
export const readIndexesSearch = ({ create, remove }: Record<string, unknown>): IndexesSearch => ({
  ...(typeof create === 'string' && create !== '' && { create }),
  ...(typeof remove === 'string' && remove !== '' && { remove }),
})

/** Returns the Indexes page's URL search and functions that open and close its dialogs. */
export function useIndexesLocation() {
  const { database = '', collection = '' }: Partial<CollectionRef> = useParams({ strict: false })
  const search: IndexesSearch = useSearch({ strict: false })
  const dialogs = useDialogNavigation()
  const at = (next: IndexesSearch) => ({
    to: '/documents/$database/$collection/indexes',
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
