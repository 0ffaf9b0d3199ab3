/** Number of documents with the same author. */
const BY_AUTHOR = 20
/** Number of different queries that a load sends in turn. */
const QUERIES = 1_000
/** Numbers have the same number of digits, so that responses have the same length. */
export const FIRST = 1_000_000

export const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`

export const authorOf = (at: number, size: number) =>
  `a${String(at % Math.ceil(size / BY_AUTHOR)).padStart(6, '0')}`

/** Returns a document; all have texts of the same length. `size` is the number of documents. */
export const documentOf = (at: number, size: number) => ({
  id: idOf(at),
  title: 'On the measurement of servers',
  author: authorOf(at, size),
  n: FIRST + at,
  tags: ['a', 'b'],
})

/** Returns queries that are spread over `size` documents. */
export const queriesOf = (query: (at: number) => string, size: number) =>
  Array.from({ length: QUERIES }, (_, nth) => query(Math.floor((nth * size) / QUERIES)))

const { id: _, ...withoutId } = documentOf(0, 1)

/** A document that a load inserts; the server generates its id. */
export const NEW = withoutId
