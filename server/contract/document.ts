import * as z from 'zod/mini'

/** The pattern of a collection's name; some names are reserved: see {@link isCollectionName}. */
const COLLECTION_NAME = /^[a-z][a-z0-9_-]{0,63}$/

/** Paths that monitoring tools and GraphQL clients request; they are never collections. */
export const RESERVED_NAMES: readonly string[] = ['graphql', 'healthz', 'metrics']

/** Whether a collection may have this name. */
export const isCollectionName = (name: string): boolean =>
  COLLECTION_NAME.test(name) && !RESERVED_NAMES.includes(name)

/**
 * Query parameters that other servers define and this one does not. They are rejected, because a
 * filter on a field of that name would match nothing. So are all names that begin with `_`.
 */
export const UNSUPPORTED_PARAMETERS: readonly string[] = [
  'sort',
  'order',
  'page',
  'offset',
  'fields',
  'q',
  'count',
  'cursor',
]

/** The longest id of a document, in characters. */
export const ID_LENGTH = 256

/** The largest document, as JSON in UTF-8, bytes: 1 MiB. */
export const DOCUMENT_BYTES = 1024 * 1024

/** The longest number in a document, in characters. */
export const NUMBER_LENGTH = 1_000

/** The largest body that holds many documents, bytes: 64 MiB. */
export const BULK_BYTES = 64 * 1024 * 1024

/** How many documents such a body holds at most. */
export const BULK_DOCUMENTS = 1_000_000

/** An array of more documents than this is created by a job, whether its request asks for one or not. */
export const BULK_AT_ONCE = 10_000

/** The most fields that a filter names. */
export const FILTER_FIELDS = 50

/** How many documents a page of a collection holds: where nothing is asked for, and at most. */
export const PAGE = { usual: 100, most: 1000 } as const

/** A page ends earlier where its documents would take more than this together, bytes: 16 MiB. */
export const PAGE_BYTES = 16 * 1024 * 1024

/** The versions in which documents are served, newest first. */
export const VERSIONS = [1] as const

/** Query of `GET /_api/collection`. */
export const collectionQuery = z.object({
  database: z.string().check(z.describe('the database whose collections are listed')),
})

/** How much a collection or a database holds; null: it has not been measured yet. */
const sizes = {
  documents: z.nullable(z.number()),
  bytes: z.nullable(z.number().check(z.describe('of their JSON in UTF-8'))),
  measured: z.nullable(z.string().check(z.describe('when they were counted, ISO 8601, UTC'))),
}

/** Answer of `GET /_api/collection`: the collections that hold documents, by name. */
export const collectionList = z.array(z.object({ name: z.string(), ...sizes }))

/** Answer of `GET /_api/size`: how much every database holds, `_system` first, then by name. */
export const sizeList = z.array(
  z.object({ database: z.string(), collections: z.nullable(z.number()), ...sizes }),
)

/** {@link sizeList} as a type. */
export type SizeList = z.infer<typeof sizeList>

/** {@link collectionList} as a type. */
export type CollectionList = z.infer<typeof collectionList>
