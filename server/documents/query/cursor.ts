import { hash } from 'node:crypto'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Vault } from '../../storage/vault.ts'
import { printFieldPath } from './field-path.ts'
import type { Filter } from './filter.ts'
import type { Position, Sort, SortValue } from './order.ts'

/** Maximum length of a cursor, in characters, so that it fits into a URL. */
export const CURSOR_LENGTH = 6_000

/** Returns a function that returns the text that binds a cursor to its query, computed once. */
export function cursorContext(
  { database, collection }: CollectionRef,
  filter: Filter,
  sort: Sort,
): () => string {
  let context: string | undefined
  return () => {
    if (context === undefined) {
      const order = sort.map(({ path, isDescending }) => [isDescending, printFieldPath(path)])
      const query = JSON.stringify([database, collection, filter, order])
      context = `cursors/${hash('sha256', query, 'base64url')}`
    }
    return context
  }
}

/**
 * Returns an opaque cursor for the page after a position. It is encrypted and authenticated, and
 * belongs to one collection, filter and order.
 *
 * @throws Failure `query-too-expensive` if the values to sort by are too long for a URL.
 */
export function printCursor(vault: Vault, context: () => string, { values, id }: Position): string {
  // A missing value is an empty array, because JSON has no undefined.
  const wrapped = values.map((value) => (value === undefined ? [] : [value]))
  const cursor = vault.encrypt(JSON.stringify([wrapped, id]), context())
  if (cursor.length <= CURSOR_LENGTH) return cursor
  throw new Failure(
    'query-too-expensive',
    `The URL of the next page would be too long: the values to sort by of ${JSON.stringify(id.slice(0, 64))} are ` +
      'part of it. Sort by a field with shorter values.',
    { field: 'sort' },
  )
}

/** @throws Failure `bad-parameter` if the cursor was altered or belongs to another query. */
export function parseCursor(vault: Vault, context: () => string, cursor: string): Position {
  let text: string
  try {
    text = vault.decrypt(cursor, context())
  } catch (cause) {
    throw new Failure(
      'bad-parameter',
      'The cursor does not belong to this query. Use the URL in the Link header of the previous page.',
      { cause, field: 'cursor' },
    )
  }
  // The text is authentic, so it has this form.
  const [wrapped, id] = JSON.parse(text) as [(readonly SortValue[])[], string]
  return { values: wrapped.map(([value]) => value), id }
}
