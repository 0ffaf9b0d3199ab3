import * as z from 'zod/mini'
import { errorBody } from './acknowledgement.ts'
import { changeResult, importResult } from './import.ts'
import { databaseImportResult } from './transfer.ts'

/** The operations of jobs on a collection. */
export const JOB_KINDS = ['patch', 'delete', 'list', 'import'] as const

export type JobKind = (typeof JOB_KINDS)[number]

/** The collection in the row of a job that imports a whole database. */
export const WHOLE_DATABASE = ''

const importJobResult = z.union([databaseImportResult, importResult])

/** The result of an import of a collection or a database. */
export type ImportJobResult = z.infer<typeof importJobResult>

/** The result of a job; none of a listing. */
export const jobResult = z.union([importJobResult, changeResult])

export type JobResult = z.infer<typeof jobResult>

/** Returns the result of an import so far; null if it has none yet. */
export const importResultOf = (result: JobResult | null): ImportJobResult | null =>
  result !== null && 'created' in result ? result : null

/** Response of `GET /_job/<id>` and `DELETE /_job/<id>`. */
export const jobView = z.object({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  collection: z.nullable(z.string()).check(z.describe('null for an import of a database')),
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  done: z.int().check(z.describe('number of documents examined so far')),
  total: z
    .nullable(z.int())
    .check(z.describe('number of documents to examine; null if not known before the end')),
  found: z.int().check(z.describe('number of documents stored, changed, deleted or listed so far')),
  failure: z
    .nullable(errorBody)
    .check(z.describe('why it failed, in the form of an error response')),
  result: z
    .optional(z.nullable(jobResult))
    .check(z.describe('what an import has stored, or a change could not change, so far')),
  documents: z
    .optional(z.array(z.unknown()))
    .check(z.describe('a page of the results of a listing job; only the last page is complete')),
  created: z.string(),
  updated: z.string(),
})

export type JobView = z.infer<typeof jobView>

/** How long the result of a job is kept, ms: a day. */
export const JOB_RETENTION = 24 * 60 * 60_000

/** Maximum number of finished listings per database; beyond it, the oldest are deleted early. */
export const MAX_LISTINGS = 1000

/** Maximum number of running listings per database, and of other running jobs. */
export const MAX_UNFINISHED_JOBS = 100
