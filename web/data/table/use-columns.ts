import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { sharedStorage } from '../../shared/browser-storage.ts'
import {
  type FieldColumn,
  formatColumns,
  initialColumns,
  parseColumns,
  rankFields,
} from '../model/columns.ts'
import { conditionsOf, partsOf } from '../model/conditions.ts'
import { parseSort } from '../model/sort.ts'
import { documentsQuery } from '../queries.ts'
import { type CollectionRef, formatCollection, useDataLocation } from '../use-data-location.ts'

/**
 * Returns the columns of a collection and functions that change them. They are those of the URL,
 * otherwise those that were chosen last in this browser, otherwise the most frequent fields of
 * the first page, and those that the table is filtered or sorted by. They are undefined while the
 * first page is loading.
 *
 * @param documents the documents shown, whose fields are used if the first page cannot be loaded.
 */
export function useColumns(collectionRef: CollectionRef, documents: readonly DocumentFields[]) {
  const { search, setColumns } = useDataLocation()
  const key = `gatehouse-columns ${formatCollection(collectionRef)}`
  const [remembered, setRemembered] = useState(() => sharedStorage.get(key))
  // Keep the columns while the user turns pages and changes documents.
  const [initial, setInitial] = useState<readonly string[]>()
  const text = search.columns ?? remembered
  // The first page in the order of ids: the same URL has the same columns, however it was reached.
  const first = useQuery({
    ...documentsQuery(collectionRef, {}),
    enabled: text === undefined && initial === undefined,
  })
  if (initial === undefined && first.data !== undefined) {
    const found = rankFields(first.data.documents)
    if (found.length > 0) setInitial(found)
  }
  const ranked = initial ?? (first.isPending ? undefined : rankFields(documents))
  const used = [
    ...conditionsOf(search.filter).map((condition) => partsOf(condition).field),
    ...parseSort(search.sort).map(({ field }) => field),
  ]
  return {
    columns: text === undefined ? ranked && initialColumns(ranked, used) : parseColumns(text),
    change: (columns: readonly FieldColumn[]) => {
      // Empty text would stand for the initial columns.
      const next = columns.length === 0 ? 'id' : formatColumns(columns)
      // If they cannot be stored, the URL still has them.
      sharedStorage.set(key, next)
      setRemembered(next)
      setColumns(next)
    },
    /** Returns to the initial columns and their widths; undefined if nothing was chosen. */
    reset:
      text === undefined
        ? undefined
        : () => {
            sharedStorage.remove(key)
            setRemembered(undefined)
            setColumns('')
          },
  }
}
