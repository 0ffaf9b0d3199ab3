import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isNumeric } from '../model/columns.ts'
import { fieldsOf, valueAt } from '../model/field-path.ts'
import { loadedPages } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** Maximum number of suggested values, and the length of the longest. */
const VALUES = 50
const MAX_LENGTH = 80

/** Returns functions that suggest fields and values, from the pages loaded so far. */
export function useFilterSuggestions(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  const pages = () => loadedPages(queryClient, collectionRef)
  const documents = () => pages().flatMap((page) => [...page.documents])
  return {
    /** Whether a page is loaded. */
    isReady: useSyncExternalStore(queryClient.getQueryCache().subscribe, () => pages().length > 0),
    fields: () => ['id', ...fieldsOf(documents())],
    /** Returns whether the values of a field are numbers in all documents loaded so far. */
    isNumeric: (field: string) =>
      isNumeric(documents().map((document) => valueAt(document, field))),
    /** Returns the values of a field, the most frequent first. */
    values: (field: string) => {
      const counts = new Map<string, number>()
      for (const document of documents()) {
        for (const value of [valueAt(document, field)].flat()) {
          const text = textOf(value)
          if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
        }
      }
      return [...counts]
        .sort(([, a], [, b]) => b - a)
        .slice(0, VALUES)
        .map(([text]) => text)
    },
  }
}

/** Returns a value as a filter writes it; undefined for objects and long texts. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined
  const text = String(value)
  return text === '' || text.length > MAX_LENGTH ? undefined : text
}
