import * as z from 'zod/mini'
import { errorBody } from '../contract/acknowledgement.ts'
import { actor } from '../contract/audit.ts'
import { COUNTED_ACTIONS } from '../contract/audit-action.ts'
import { ON_CONFLICT, type OnConflict } from '../contract/import.ts'
import { JOB_KINDS, type JobKind, type JobResult, jobResult } from '../contract/job.ts'
import type { ImportPart } from '../documents/import/importer.ts'
import type { Filter } from '../documents/query/filter.ts'
import type { CountedAudit, RecordEnd } from '../documents/record-end.ts'
import type { ScanBatch } from '../documents/repository/scan-batch.ts'
import type { DatabaseImporter } from '../documents/transfer/database-importer.ts'
import { Failure, type FailureCode, failureKinds } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { parseColumn, parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { JobsTable } from '../storage/tables.ts'

/** The parameters of a job. */
export interface JobRequest {
  readonly filter: Filter
  /** A merge patch (RFC 7396) as JSON; only for the kind `patch`. */
  readonly patch?: string
  /** The id after which it begins; only for the kind `list`. */
  readonly after?: string | undefined
  /** Only for the kind `import`. */
  readonly onConflict?: OnConflict
  /** Only for imports and the deletion of a collection. */
  readonly audit?: CountedAudit | undefined
}

/**
 * The state of a job:
 *
 * - `preparing`: its documents are still arriving. If the node dies, no other node takes it over.
 * - `running`: it will end, on this node or another.
 * - `done`, `failed`, `cancelled`: it has ended.
 * - `discarded`: it is hidden and is being deleted.
 */
export type JobState = z.infer<typeof state>

const state = z.enum(['preparing', 'running', 'done', 'failed', 'cancelled', 'discarded'])

const kind = z.enum(JOB_KINDS)

const request = z.object({
  filter: z.array(z.tuple([z.string(), z.string()])),
  patch: z.optional(z.string()),
  after: z.optional(z.string()),
  onConflict: z.optional(z.enum(ON_CONFLICT)),
  audit: z.optional(
    z.object({
      actor,
      // Jobs of earlier versions have none.
      action: z._default(z.enum(COUNTED_ACTIONS), 'database.import'),
      target: z.string(),
    }),
  ),
})

const failure = z.object({
  code: z.custom<FailureCode>((code) => Object.hasOwn(failureKinds, String(code))),
  message: z.string(),
  details: z.omit(errorBody, { id: true, message: true }),
})

/** A job as it is stored. */
export interface Job extends CollectionRef {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly request: JobRequest
  readonly cursor: string | null
  readonly done: number
  readonly total: number | null
  readonly found: number
  readonly failure: Pick<Failure, 'code' | 'message' | 'details'> | null
  readonly result: JobResult | null
  /** Id of the caller that requested it; empty if it is unknown. */
  readonly caller: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** Returns the new body of a document. @throws Failure that names the document */
export type Merge = (id: string, body: string) => Promise<string>

/** The rules of documents that jobs need. */
export interface DocumentRules {
  /**
   * Prepares a merge patch with the collection's current schema, whose tag is null without one. The
   * function throws `invalid` or `too-large`.
   */
  merger(
    where: CollectionRef,
    patch: string,
  ): Promise<{ readonly merge: Merge; readonly schema: string | null }>
  /** Returns the next documents after an id that may match a filter, among those with these ids. */
  candidates(
    where: CollectionRef,
    filter: Filter,
    after: string,
    ids?: readonly string[],
  ): Promise<ScanBatch>
  /** Compiles a filter into a test of the JSON of a document. */
  matcher(filter: Filter): (body: string) => boolean | Promise<boolean>
  /** Imports a part that `stored-part.ts` has printed. */
  readonly importPart: ImportPart
  /** Imports a part of a database. */
  readonly databaseImporter: Pick<DatabaseImporter, 'part'>
  /** Records the end of audited changes. */
  readonly recordEnd: Pick<RecordEnd, 'inTransaction' | 'now'>
}

/** The columns that change while a job runs. */
export const PROGRESS_COLUMNS = [
  'state',
  'cursor',
  'done',
  'total',
  'found',
  'failure',
  'result',
  'updated_at',
] as const

/** Parses the columns that change. */
export const toProgress = (row: Pick<JobsTable, (typeof PROGRESS_COLUMNS)[number]>) => ({
  state: parseColumn(state, 'jobs.state', row.state),
  cursor: row.cursor,
  done: row.done,
  total: row.total,
  found: row.found,
  failure: row.failure === null ? null : parseJsonColumn(failure, 'jobs.failure', row.failure),
  result: row.result === null ? null : parseJsonColumn(jobResult, 'jobs.result', row.result),
  updatedAt: row.updated_at,
})

/** Parses a row. */
export const toJob = (row: JobsTable): Job => ({
  id: row.id,
  database: row.database,
  collection: row.collection,
  kind: parseColumn(kind, 'jobs.kind', row.kind),
  request: parseJsonColumn(request, 'jobs.request', row.request),
  caller: row.created_by ?? '',
  createdAt: row.created_at,
  ...toProgress(row),
})

/** Returns the failure of a failed job, or undefined. */
export const failureOf = ({ failure }: Job): Failure | undefined =>
  failure === null ? undefined : new Failure(failure.code, failure.message, failure.details)
