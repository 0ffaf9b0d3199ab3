import * as z from 'zod/mini'

/**
 * What an import does with a document whose id exists: count it as failed, leave the stored one as
 * it is, or replace it.
 */
export const ON_CONFLICT = ['fail', 'skip', 'replace'] as const

export type OnConflict = (typeof ON_CONFLICT)[number]

/** The separators of the cells of CSV, by their names. */
export const CSV_SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const

export type CsvSeparator = keyof typeof CSV_SEPARATORS

export const isCsvSeparator = (name: string): name is CsvSeparator =>
  Object.hasOwn(CSV_SEPARATORS, name)

/** How the cells of CSV become values: by their text, or all as strings. */
export const CSV_TYPES = ['auto', 'string'] as const

export type CsvTypes = (typeof CSV_TYPES)[number]

/** Maximum number of errors that the result of an import lists. */
export const IMPORT_ERRORS = 100

/** The result of an import, so far or at its end. */
export const importResult = z.object({
  created: z.int(),
  replaced: z.int(),
  skipped: z.int(),
  failed: z.int(),
  errors: z
    .array(
      z.object({
        line: z.int().check(z.describe('the line on which the document begins, from 1')),
        pointer: z.string().check(z.describe('JSON Pointer into the document')),
        message: z.string(),
      }),
    )
    .check(z.describe(`the first ${IMPORT_ERRORS} errors`)),
})

export type ImportResult = z.infer<typeof importResult>

/** Maximum number of created documents that the response to an import lists. */
export const IMPORT_DOCUMENTS = 10_000

/** The response to an import that is not a job. */
export const importResponse = z.extend(importResult, {
  documents: z
    .optional(z.array(z.object({ id: z.string(), etag: z.string() })))
    .check(
      z.describe(
        `the created documents, for Prefer: return=representation; omitted if there are more than ${IMPORT_DOCUMENTS}`,
      ),
    ),
})

export type ImportResponse = z.infer<typeof importResponse>

/** What a change of a whole collection could not change, so far or at its end. */
export const changeResult = z.object({
  failed: z.int(),
  errors: z
    .array(z.object({ id: z.string(), pointer: z.string(), message: z.string() }))
    .check(z.describe(`the first ${IMPORT_ERRORS} errors`)),
})

export type ChangeResult = z.infer<typeof changeResult>

export type ImportError = ImportResult['errors'][number]
