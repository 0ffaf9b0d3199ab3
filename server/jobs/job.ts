import type { JobKind } from '../contract/job.ts'
import { Failure } from '../failure.ts'
import type { JobsTable } from '../storage/tables.ts'

/** A collection: the id of its database, and its name. */
export interface Where {
  readonly database: string
  readonly collection: string
}

/** Which documents are meant: those whose fields have these values. */
export type Filter = readonly (readonly [field: string, value: string])[]

/** What is asked of a job beside its documents. */
export interface JobRequest {
  readonly filter: Filter
  /** A merge patch (RFC 7396) as JSON, of the kind `patch` alone. */
  readonly patch?: string
}

/**
 * `preparing`: its documents are still arriving. `attached`: a request waits for it, and if its node
 * dies nobody takes it over. `running`: it ends, whatever happens. `done`, `failed`: it has ended.
 * `discarded`: nobody may see it any more, and it is being deleted.
 */
export type JobState = 'preparing' | 'attached' | 'running' | 'done' | 'failed' | 'discarded'

/** A job as it is stored. */
export interface Job extends Where {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly request: JobRequest
  readonly cursor: string | null
  readonly done: number
  readonly total: number | null
  readonly found: number
  readonly failure: Pick<Failure, 'code' | 'message' | 'details'> | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A document that a job has taken, with the tag of the state that it looked at. */
export interface Taken {
  readonly id: string
  readonly seen: string
  readonly tag: string
  readonly body: string
}

/** Returns what becomes of the body of a document. Makes no query: a transaction may call it. */
export type Merge = (id: string, body: string) => Promise<string>

/** What documents are, as the jobs need to know it. */
export interface DocumentRules {
  /**
   * Prepares a merge patch with the schema that the collection has now. Queries the store: to be called
   * before a transaction. What it returns throws `invalid`, `too-large`.
   */
  merger(where: Where, patch: string): Promise<Merge>
  fits(body: string, filter: Filter): boolean
  createTag(): string
}

/** What a row says. */
export const toJob = (row: JobsTable): Job => ({
  id: row.id,
  database: row.database,
  collection: row.collection,
  kind: row.kind as JobKind,
  state: row.state as JobState,
  request: JSON.parse(row.request),
  cursor: row.cursor,
  done: row.done,
  total: row.total,
  found: row.found,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** The failure of a job that failed, as its request is told. */
export const failureOf = ({ failure }: Job): Failure | undefined =>
  failure === null
    ? undefined
    : new Failure(failure.code, failure.message, { details: failure.details })
