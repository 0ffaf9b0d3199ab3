import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { type FieldColumn, formatColumns, initialColumns, parseColumns } from '../model/columns.ts'
import { documentsQuery } from '../queries.ts'
import {
  type CollectionRef,
  formatCollection,
  useDocumentsLocation,
} from '../use-documents-location.ts'

/**
 * Returns the columns of a collection and functions that change them. They are those of the URL,
 * otherwise those that were chosen last in this browser, otherwise the first fields of the
 * collection. They are undefined while those fields are loading.
 *
 * @param documents the documents shown, whose fields are used if the first ones cannot be loaded.
 */
export function useColumns(collectionRef: CollectionRef, documents: readonly DocumentFields[]) {
  const { search, setColumns } = useDocumentsLocation()
  const [remembered, setRemembered] = useState(() => read(collectionRef))
  // Keep the columns while the user turns pages and changes documents.
  const [initial, setInitial] = useState<readonly FieldColumn[]>()
  const text = search.columns ?? remembered
  // The first page in the order of ids: the same URL has the same columns, however it was reached.
  const first = useQuery({
    ...documentsQuery(collectionRef, {}),
    enabled: text === undefined && initial === undefined,
  })
  if (initial === undefined && first.data !== undefined) {
    const found = initialColumns(first.data.documents)
    if (found.length > 0) setInitial(found)
  }
  const fallback = first.isPending ? undefined : initialColumns(documents)
  return {
    columns: text === undefined ? (initial ?? fallback) : parseColumns(text),
    change: (columns: readonly FieldColumn[]) => {
      // Empty text would stand for the first fields.
      const next = columns.length === 0 ? 'id' : formatColumns(columns)
      remember(collectionRef, next)
      setRemembered(next)
      setColumns(next)
    },
    /** Returns to the first fields and their widths; undefined if nothing was chosen. */
    reset:
      text === undefined
        ? undefined
        : () => {
            remember(collectionRef, undefined)
            setRemembered(undefined)
            setColumns('')
          },
  }
}

const keyOf = (collectionRef: CollectionRef) =>
  `gatehouse-columns ${formatCollection(collectionRef)}`

function read(collectionRef: CollectionRef): string | undefined {
  try {
    return localStorage.getItem(keyOf(collectionRef)) ?? undefined
  } catch {
    return undefined
  }
}

function remember(collectionRef: CollectionRef, columns: string | undefined): void {
  try {
    if (columns === undefined) localStorage.removeItem(keyOf(collectionRef))
    else localStorage.setItem(keyOf(collectionRef), columns)
  } catch {
    // Storage is blocked or full. The URL still has the columns.
  }
}
