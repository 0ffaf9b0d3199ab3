import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { type Condition, filterOf } from './filter.ts'
import type { Position, Sort, SortValue } from './order.ts'

/** Maximum length of a cursor, in characters, so that it fits into a URL. */
export const CURSOR_LENGTH = 6_000

/** The query that a cursor belongs to. */
interface CursorQuery {
  readonly where: CollectionRef
  readonly conditions: readonly Condition[]
  readonly sort: Sort
}

/** Prints and parses cursors, which are opaque to callers. */
export interface Cursors {
  /**
   * Returns the cursor of the page after a position.
   *
   * @throws Failure `query-too-expensive` if the values to sort by are too long for a URL.
   */
  print(query: CursorQuery, position: Position): string
  /** @throws Failure `bad-parameter` if the cursor was altered or belongs to another query. */
  parse(query: CursorQuery, cursor: string): Position
}

/**
 * Creates cursors that are signed with HMAC-SHA-256 (RFC 2104). They are not encrypted: callers that
 * may read a page may read its documents.
 *
 * @param secretKey 32 bytes. Nodes that share a store have the same key.
 */
export function createCursors(secretKey: Uint8Array): Cursors {
  // Node.js would convert the bytes for each signature, which takes longer than signing.
  const key = createSecretKey(
    Buffer.from(hkdfSync('sha256', secretKey, '', 'gatehouse cursors', 32)),
  )
  // JSON contains no line break, so the parts are unambiguous.
  const sign = (query: CursorQuery, position: string) =>
    createHmac('sha256', key)
      .update(`${textOf(query)}\n${position}`)
      .digest('base64url')
  return {
    print(query, { values, id }) {
      // A missing value is an empty array, because JSON has no undefined.
      const wrapped = values.map((value) => (value === undefined ? [] : [value]))
      const position = Buffer.from(JSON.stringify([wrapped, id])).toString('base64url')
      const cursor = `${position}.${sign(query, position)}`
      if (cursor.length <= CURSOR_LENGTH) return cursor
      throw new Failure(
        'query-too-expensive',
        `The URL of the next page would be too long: it contains the values to sort by of the document ${JSON.stringify(id.slice(0, 64))}. ` +
          'Sort by a field with shorter values.',
        { field: 'sort' },
      )
    },
    parse(query, cursor) {
      const end = cursor.lastIndexOf('.')
      const position = cursor.slice(0, end)
      const signature = Buffer.from(cursor.slice(end + 1))
      const expected = Buffer.from(sign(query, position))
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
        throw new Failure(
          'bad-parameter',
          'The cursor does not belong to this query. Use the URL in the Link header of the previous page.',
          { field: 'cursor' },
        )
      }
      // The position is authentic, so it has this form.
      const text = Buffer.from(position, 'base64url').toString()
      const [wrapped, id] = JSON.parse(text) as [(readonly SortValue[])[], string]
      return { values: wrapped.map(([value]) => value), id }
    },
  }
}

function textOf({ where: { database, collection }, conditions, sort }: CursorQuery): string {
  const order = sort.map(({ path, isDescending }) => [isDescending, printFieldPath(path)])
  return JSON.stringify([database, collection, filterOf(conditions), order])
}
