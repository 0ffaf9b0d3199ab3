import { type ChangeResult, IMPORT_ERRORS } from '../contract/import.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import type { CollectionSearch } from '../documents/collections/collection-search.ts'
import type {
  ChangeDocuments,
  ChangeResult as Outcome,
} from '../documents/repository/writes/change-documents.ts'
import { Failure, isStoreFailure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import { SchemaChanged } from '../storage/current-schema.ts'
import { StateChanged } from '../storage/document-ref.ts'
import { endJob, failJob, importNext, type StepRules } from './import-job.ts'
import type { Job } from './job.ts'
import type { JobRepository } from './job-repository.ts'
import { LeaseLost } from './lease.ts'
import { fieldsOf, type Scan, type ScannedDocuments, type ScanTarget } from './scan.ts'

export interface StepDeps {
  readonly repository: JobRepository
  readonly rules: StepRules
  readonly scan: Scan
  readonly search: Pick<CollectionSearch, 'connected' | 'select'>
  readonly changeDocuments: ChangeDocuments
  /** @throws Failure `forbidden` if the caller of the job has lost the role that it requires. */
  readonly requirePermission: (job: Job) => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Makes a step of a running job; returns its new state.
 *
 * @param signal aborted when this node no longer holds the job.
 * @throws LeaseLost; Failure `unavailable` for a job that continues later
 */
export type Step = (job: Job, signal: AbortSignal) => Promise<Job>

/** Returns the {@link Step} of the jobs that a node has claimed. */
export function createStep(deps: StepDeps): Step {
  const { repository, rules, scan, search, changeDocuments, requirePermission, onError } = deps
  /**
   * The document ids that an index has found for the jobs of this node, by job id; undefined for
   * jobs that scan the collection.
   */
  const selected = new Map<string, readonly string[] | undefined>()

  /** Changes or lists the next documents. */
  async function scanNext(job: Job & Pick<ScanTarget, 'kind'>, signal: AbortSignal): Promise<Job> {
    const run = search.connected(signal)
    // A job that has begun to scan may have passed documents that an index finds now.
    if (!selected.has(job.id) && job.cursor === null) {
      selected.set(job.id, await search.select(job, job.request.filter, run))
    }
    const next = await run(() => scan(job, selected.get(job.id)))
    if (next === undefined) {
      selected.delete(job.id)
      return endJob(repository, rules.recordEnd, job)
    }
    return next.changes.length > 0
      ? change(job, next)
      : repository.advance(job, progressOf(job, next))
  }

  /** Stores changes together with the progress of the job. */
  async function change(job: Job, scanned: ScannedDocuments): Promise<Job> {
    const { changes, schema } = scanned
    const fields = fieldsOf(job.request.patch)
    let advanced = job
    try {
      await changeDocuments(job, changes, {
        ...(schema !== undefined && { schema }),
        ...(fields && { fields }),
        async commit(trx, outcomes) {
          advanced = await repository.advance(job, progressOf(job, scanned, outcomes), trx)
        },
      })
      return advanced
    } catch (error) {
      // The next step reads the documents again.
      if (error instanceof StateChanged || error instanceof SchemaChanged) return job
      throw error
    }
  }

  const fail = (job: Job, failure: Failure): Promise<Job> =>
    failJob(repository, rules.recordEnd, job, failure)

  return async (job, signal) => {
    try {
      await requirePermission(job)
      return await (job.kind === 'import'
        ? importNext(repository, rules, job, signal)
        : scanNext({ ...job, kind: job.kind }, signal))
    } catch (error) {
      selected.delete(job.id)
      if (error instanceof LeaseLost) throw error
      if (signal.aborted) throw new LeaseLost()
      if (error instanceof Failure && (error.kind.status < 500 || error.code === 'busy')) {
        return fail(job, error)
      }
      // The disk is full or part of the database is damaged. A retry would fail too and delay other
      // jobs.
      if (
        isStoreFailure(error) &&
        (error.code !== 'unavailable' || error instanceof DamagedStore)
      ) {
        onError(error)
        return fail(job, error)
      }
      // The database is unavailable, which is not an error of the job. It is retried.
      if (isStoreFailure(error)) throw error
      onError(error)
      return fail(job, new Failure('internal', 'An unexpected error occurred.'))
    }
  }
}

/**
 * Returns the progress of a job after a step.
 *
 * @param outcomes the results of the changes; the step ends with the last one.
 */
function progressOf(job: Job, scanned: ScannedDocuments, outcomes: readonly Outcome[] = []) {
  const { changes } = scanned
  const isWhole = outcomes.length === changes.length
  const cursor = isWhole ? scanned.cursor : (changes[outcomes.length - 1]?.id ?? null)
  const failures = [
    ...scanned.rejected,
    ...outcomes.flatMap((failure, at) => {
      const id = changes[at]?.id
      return failure === undefined || id === undefined ? [] : { id, failure }
    }),
  ].filter(({ id }) => isWhole || compareCodePoints(id, cursor ?? '') <= 0)
  const made = outcomes.filter((failure) => failure === undefined).length
  return {
    cursor,
    // The number of documents that did not match between them is unknown if a step ends early.
    scanned: isWhole ? scanned.scanned : outcomes.length,
    found: job.kind === 'list' ? scanned.found : made,
    result: job.kind === 'list' ? null : withFailures(job.result, failures),
  }
}

/** Maximum length of a message and of a pointer in the result of a job, in characters. */
const TEXT_LENGTH = 1_000

function withFailures(
  result: Job['result'],
  failures: readonly { readonly id: string; readonly failure: Failure }[],
): ChangeResult {
  const before: ChangeResult =
    result !== null && !('created' in result) ? result : { failed: 0, errors: [] }
  const errors = failures.flatMap(({ id, failure: { message, details } }) => {
    const violations = details.violations ?? [{ pointer: details.field ?? '', message }]
    return violations.map(({ pointer, message }) => ({
      id,
      pointer: pointer.slice(0, TEXT_LENGTH),
      message: message.slice(0, TEXT_LENGTH),
    }))
  })
  return {
    failed: before.failed + failures.length,
    errors: [...before.errors, ...errors].slice(0, IMPORT_ERRORS),
  }
}
