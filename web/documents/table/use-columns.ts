import { useState } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { type FieldColumn, formatColumns, initialColumns, parseColumns } from '../model/columns.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'

/**
 * Returns the columns of a collection and a function that changes them. They are those of the URL,
 * otherwise those that were chosen last in this browser, otherwise the first fields.
 */
export function useColumns(collectionRef: CollectionRef, documents: readonly DocumentFields[]) {
  const { search, setColumns } = useDocumentsLocation()
  const [remembered, setRemembered] = useState(() => read(collectionRef))
  const [initial, setInitial] = useState<readonly FieldColumn[]>([])
  // They stay as they are while the user turns pages.
  if (initial.length === 0 && documents.length > 0) {
    const found = initialColumns(documents)
    if (found.length > 0) setInitial(found)
  }
  const text = search.columns ?? remembered
  return {
    columns: text === undefined ? initial : parseColumns(text),
    change: (columns: readonly FieldColumn[]) => {
      // Empty text would stand for the first fields.
      const next = columns.length === 0 ? 'id' : formatColumns(columns)
      remember(collectionRef, next)
      setRemembered(next)
      setColumns(next)
    },
  }
}

const keyOf = ({ database, collection }: CollectionRef) =>
  `gatehouse-columns ${database}/${collection}`

function read(collectionRef: CollectionRef): string | undefined {
  try {
    return localStorage.getItem(keyOf(collectionRef)) ?? undefined
  } catch {
    return undefined
  }
}

function remember(collectionRef: CollectionRef, columns: string): void {
  try {
    localStorage.setItem(keyOf(collectionRef), columns)
  } catch {
    // Storage is blocked or full. The URL still has the columns.
  }
}
