import { Failure, requireConnected } from '../failure.ts'
import { resolveOutcome } from '../storage/availability/resolve-outcome.ts'
import { SCHEMA_CHANGES, SchemaChanged } from '../storage/current-schema.ts'
import type { Store } from '../storage/store.ts'
import type { DocumentRules, Job } from './job.ts'
import { rangeAfter } from './range.ts'
import type { JobRepository } from './repository/repository.ts'

/** Maximum number of documents validated again between two pauses, and of their bytes. */
const CHECK_LIMITS = { documents: 250, bytes: 256 * 1024 } as const

export interface CommitOptions {
  /** Whether the staged rows are kept until the job is discarded. */
  readonly keep?: boolean
  /** Aborted when the client disconnects. A job that is not committed yet then changes nothing. */
  readonly signal?: AbortSignal | undefined
}

/** Commits a job; returns its new state. @throws Failure `busy` if the client has disconnected */
export type Commit = (job: Job, options?: CommitOptions) => Promise<Job>

/**
 * Commits a job. If the database does not confirm the commit, looks up whether the job is committed.
 *
 * @throws OutcomeUnknown if it is not found to be committed
 */
export const commitOrFind = (
  { commit, repository }: { commit: Commit; repository: Pick<JobRepository, 'read'> },
  job: Job,
  options: CommitOptions,
): Promise<Job> =>
  resolveOutcome(commit(job, options), async () => {
    const found = await repository.read(job.id)
    return found?.state === 'done' || found?.state === 'applying' ? found : undefined
  })

/** Returns a pause that throws `busy` once a client has disconnected. */
export const connectedPause =
  (pause: () => Promise<unknown>, signal: AbortSignal | undefined) => async (): Promise<void> => {
    await pause()
    requireConnected(signal)
  }

export interface CommitDeps {
  readonly store: Pick<Store, 'db'>
  readonly repository: Pick<JobRepository, 'read' | 'staged'>
  readonly rules: Pick<DocumentRules, 'schema'>
  /** Commits a job if the current schema has validated its documents. @throws SchemaChanged */
  readonly commitChecked: Commit
  readonly pause: () => Promise<unknown>
}

/**
 * Returns a {@link Commit}. If the schema of the collection has changed, it validates the documents
 * of the job again first.
 */
export function createCommit(deps: CommitDeps): Commit {
  const { store, repository, rules, commitChecked } = deps

  /**
   * Validates the staged documents of a job, unless the schema that validated them is still
   * current.
   */
  async function checkBySchema(job: Job, pause: CommitDeps['pause']): Promise<Job> {
    if (job.kind !== 'create' && job.kind !== 'patch') return job
    const { tag, check } = await rules.schema(job)
    if (tag === job.request.schema) return job
    let range = await rangeAfter(store.db, job, '', CHECK_LIMITS)
    while (range !== undefined) {
      await check(await repository.staged(job, range))
      await pause()
      range = await rangeAfter(store.db, job, range.last, CHECK_LIMITS)
    }
    const stored = (await repository.read(job.id)) ?? job
    return { ...stored, request: { ...stored.request, schema: tag } }
  }

  return async (job, options) => {
    const pause = connectedPause(deps.pause, options?.signal)
    let current = job
    for (let round = 0; round < SCHEMA_CHANGES; round++) {
      current = await checkBySchema(current, pause)
      try {
        return await commitChecked(current, options)
      } catch (error) {
        if (!(error instanceof SchemaChanged)) throw error
      }
    }
    throw new Failure('busy', 'The schema of the collection keeps changing. Nothing was changed.')
  }
}
