import * as z from 'zod/mini'
import { INDEXES, indexInput } from './document-index.ts'
import { importResult } from './import.ts'

/** Version of the format of database exports. */
export const EXPORT_VERSION = 1

/**
 * Maximum size of a schema in an import of a database, bytes. It is more than that of a schema in a
 * request, because an export prints `1e20` with 21 digits.
 */
export const EXPORTED_SCHEMA_BYTES = 288 * 1024

/**
 * Maximum size of a line of a database export that is not a document, bytes. That is a schema of
 * {@link EXPORTED_SCHEMA_BYTES} and the longest indexes.
 */
export const DEFINITION_BYTES = 512 * 1024

/** First line of a database export. */
export const exportHead = z.object({
  gatehouse: z.number().check(z.describe('version of the format')),
  database: z.string(),
})

/** Line before the documents of a collection. */
export const exportedCollection = z.object({
  collection: z.string(),
  schema: z.nullable(z.union([z.boolean(), z.record(z.string(), z.unknown())])),
  indexes: z
    .array(z.extend(indexInput, { name: z.string() }))
    .check(z.maxLength(INDEXES, `at most ${INDEXES} indexes`)),
})

/** Last line of a database export. An export without it is incomplete. */
export const exportEnd = z.object({
  end: z.object({ collections: z.number(), documents: z.number() }),
})

/** Response of `POST /_import`. */
export const databaseImportResult = z.extend(importResult, {
  collections: z.int().check(z.describe('number of collections in the body')),
})

export type DatabaseImportResult = z.infer<typeof databaseImportResult>
