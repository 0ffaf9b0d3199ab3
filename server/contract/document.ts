import * as z from 'zod/mini'
import { Failure } from '../failure.ts'
import type { Json } from './json/json.ts'

/** The pattern of collection names; see {@link isCollectionName} for reserved names. */
const COLLECTION_NAME = /^[a-z][a-z0-9_-]{0,63}$/

/** The rule of {@link COLLECTION_NAME}, as a message. */
export const COLLECTION_NAME_RULE =
  'A collection name begins with a lowercase letter and has up to 64 lowercase letters, digits, “_” and “-”.'

/** Paths that monitoring tools and GraphQL clients request; they are never collections. */
export const RESERVED_NAMES: readonly string[] = ['graphql', 'healthz', 'metrics']

/** The collection in the paths of routes. Its pattern keeps it apart from system paths. */
export const COLLECTION_PARAMETER = ':collection{[a-z][a-z0-9_-]*}'

/** A document as parsed JSON. */
export type DocumentFields = Readonly<{ id: string } & Record<string, unknown>>

/** Returns whether a collection may have this name. */
export const isCollectionName = (name: string): boolean =>
  COLLECTION_NAME.test(name) && !RESERVED_NAMES.includes(name)

/** Maximum length of a document id, in characters. */
export const ID_LENGTH = 256

/** Maximum size of a document, as JSON in UTF-8, bytes: 1 MiB. */
export const DOCUMENT_BYTES = 1024 * 1024

/** Maximum length of a number in a document, in characters. */
export const NUMBER_LENGTH = 1_000

/** Maximum size of a body that contains many documents, bytes: 64 MiB. */
export const BULK_BYTES = 64 * 1024 * 1024

/** Maximum number of documents in such a body. */
export const BULK_DOCUMENTS = 1_000_000

/**
 * Maximum number of rows that a request changes in one transaction: documents and their entries in
 * indexes. A job makes larger changes in steps.
 */
export const CHANGE_ROWS = 10_000

/** Maximum size of the documents that a request changes in one transaction, bytes: 4 MiB. */
export const CHANGE_BYTES = 4 * 1024 * 1024

/**
 * Maximum length of the value of `contains`, in characters. The search for a longer text can take
 * seconds in a document of 1 MiB.
 */
export const CONTAINS_LENGTH = 200

/** Maximum number of filters in a query. */
export const FILTER_FIELDS = 50

/** Number of documents per page of a collection: the default and the maximum. */
export const PAGE = { default: 100, max: 1000 } as const

/** Maximum size of a page, bytes: 16 MiB. A page ends before the document that would exceed it. */
export const PAGE_BYTES = 16 * 1024 * 1024

/** The supported versions of the document API, newest first. */
export const VERSIONS = [1] as const

/** Query of `GET /_api/collection`. */
export const collectionQuery = z.object({
  database: z.string().check(z.describe('the database whose collections are listed')),
})

/** The size of a collection or database; null: not measured yet. */
const sizes = {
  documents: z.nullable(z.int()),
  bytes: z.nullable(z.int().check(z.describe('size of the JSON in UTF-8'))),
  measured: z.nullable(z.string().check(z.describe('when the values were counted, ISO 8601, UTC'))),
}

/** Response of `GET /_api/collection`: the collections that contain documents, by name. */
export const collectionList = z.array(z.object({ name: z.string(), ...sizes }))

export type CollectionList = z.infer<typeof collectionList>

/** Response of `GET /_api/size`: the size of every database, `_system` first, then by name. */
export const sizeList = z.array(
  z.object({ database: z.string(), collections: z.nullable(z.int()), ...sizes }),
)

export type SizeList = z.infer<typeof sizeList>

/** Returns why a value cannot be the id of a document; undefined if it can. */
export function documentIdError(value: Json): string | undefined {
  if (typeof value !== 'string') return 'An id is a string.'
  // A character has at most two code units, so a longer text need not be counted.
  if (value === '' || value.length > 2 * ID_LENGTH || [...value].length > ID_LENGTH) {
    return `An id has 1 to ${ID_LENGTH} characters.`
  }
  if (!value.isWellFormed()) return 'An id cannot contain a lone surrogate.'
  if (value.includes('\0')) return 'An id cannot contain the character U+0000.'
  // Dot segments change the path, encoded or not (RFC 3986 §5.2.4).
  if (value !== '.' && value !== '..') return undefined
  return `The id cannot be ${JSON.stringify(value)}, because a URL would not lead to the document.`
}

/** Returns the failure of a document of more than `DOCUMENT_BYTES`. */
export const documentTooLarge = () => new Failure('too-large', 'A document can be at most 1 MiB.')
