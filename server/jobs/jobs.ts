import {
  type AccessRole,
  atLeast,
  lowerRole,
  type Role,
  role,
} from '../contract/access/principal.ts'
import { inScope } from '../contract/access/scope.ts'
import type { Actor } from '../contract/audit.ts'
import { type JobKind, WHOLE_DATABASE } from '../contract/job.ts'
import type { CollectionSearch } from '../documents/collections/collection-search.ts'
import type { BeginImport } from '../documents/import/stored-part.ts'
import type { ChangeDocuments } from '../documents/repository/writes/change-documents.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { parseColumn, parseScope } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import { createChangeCollection } from './change-collection.ts'
import { cancelJob, createBeginImport } from './import-job.ts'
import type { DocumentRules, Job, JobRequest, JobState } from './job.ts'
import { createJobRepository } from './job-repository.ts'
import type { RenewalTimer } from './lease.ts'
import { createRunner } from './runner.ts'
import { createScan } from './scan.ts'
import { createStep } from './step.ts'

/** Operations on whole collections, in steps that yield to other requests. */
export interface Jobs {
  /**
   * Starts a job that changes, deletes or lists documents. The job is durable when the promise
   * resolves.
   *
   * @param caller the id of the caller (`Caller`).
   * @throws Failure `too-many-requests`
   */
  begin(
    where: CollectionRef,
    kind: Exclude<JobKind, 'import'>,
    request: JobRequest,
    caller?: string,
  ): Promise<Job>
  /** Starts an import. @throws Failure `too-many-requests`; any error that `parts` throws */
  readonly beginImport: BeginImport
  /**
   * Changes the documents that match in one transaction, and returns their number; starts a job if
   * they are too many. See {@link createChangeCollection}.
   *
   * @throws Failure also `too-many-requests`
   */
  change(
    where: CollectionRef,
    kind: 'patch' | 'delete',
    request: Pick<JobRequest, 'filter' | 'patch' | 'audit'>,
    caller: string,
    signal: AbortSignal,
  ): Promise<number | Job>
  /** Returns a job of this database. @throws Failure `not-found` */
  read(database: string, id: string): Promise<Job>
  /**
   * Cancels a job of this database; returns its new state. No document is stored for the job once
   * this resolves. No effect on a job that has ended.
   *
   * @throws Failure `not-found`
   */
  cancel(database: string, id: string, actor: Actor): Promise<Job>
  /** Resumes pending jobs. Call it at startup and periodically. */
  wake(): void
  /** Stops after the current step. The next start resumes the rest. */
  stop(): Promise<void>
}

export interface JobsDeps {
  readonly store: Store
  readonly rules: DocumentRules
  readonly changeDocuments: ChangeDocuments
  readonly search: Pick<CollectionSearch, 'connected' | 'run' | 'select'>
  /** Returns ms since 1970. */
  readonly now: () => number
  /**
   * Returns whole ms for the expiry of leases, by default `now`. The clocks of the nodes may differ
   * by more than a lease lasts, or be set during a preparation, so it must depend on neither.
   */
  readonly leaseClock?: () => number
  /** Awaited between two steps, so that other requests can run. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
  /** Replaces the timer that renews leases in tests. */
  readonly renewalTimer?: RenewalTimer
}

/** Returns the jobs of a store. They run after the first call of {@link Jobs.wake}. */
export function createJobs(deps: JobsDeps): Jobs {
  const { store, rules, changeDocuments, search, pause, onError } = deps
  const repository = createJobRepository(store, deps.now, deps.leaseClock, deps.renewalTimer)
  const scan = createScan(rules)
  const changeCollection = createChangeCollection({ scan, search, changeDocuments, pause })
  const runner = createRunner({
    repository,
    pause,
    onError,
    step: createStep({
      repository,
      rules,
      scan,
      search,
      changeDocuments,
      requirePermission: (job) => requireCallerPermission(store, job, deps.now()),
      onError,
    }),
  })

  async function read(database: string, id: string): Promise<Job> {
    const job = await repository.read(id)
    if (job?.database === database && VISIBLE_STATES.includes(job.state)) return job
    throw new Failure('not-found', 'There is no such job.')
  }

  const begin: Jobs['begin'] = async (where, kind, request, caller) => {
    const job = await repository.create({ where, kind, state: 'running', request, caller })
    if (kind === 'list') await repository.discardListings(where.database)
    runner.wake()
    return job
  }

  return {
    begin,
    beginImport: createBeginImport({ repository, pause, wake: runner.wake }),
    async change(where, kind, request, caller, signal) {
      const changed = await changeCollection({ where, kind, request }, signal)
      if (changed === undefined) return begin(where, kind, request, caller)
      const { audit } = request
      if (audit !== undefined) await rules.recordEnd.now(audit, { deleted: changed }, 'complete')
      return changed
    },
    read,
    async cancel(database, id, actor) {
      const job = await read(database, id)
      const cancelled = await cancelJob(repository, rules.recordEnd, job, actor)
      if (cancelled === undefined) return read(database, id)
      runner.abort(id)
      runner.wake()
      return cancelled
    },
    wake: runner.wake,
    stop: runner.stop,
  }
}

/** States that clients can see. Only its own request sees a `preparing` job. */
const VISIBLE_STATES: readonly JobState[] = ['running', 'done', 'failed', 'cancelled']

/**
 * Checks that the person or token that requested a job still has the role that it requires, in the
 * database of the job. The databases of a token itself never change.
 *
 * @param now ms since 1970
 * @throws Failure `forbidden`
 */
async function requireCallerPermission(
  { db }: Pick<Store, 'db'>,
  { kind, caller, database, collection }: Pick<Job, 'kind' | 'caller' | 'database' | 'collection'>,
  now: number,
): Promise<void> {
  const [by = '', id = ''] = caller.split(':', 2)
  if (id === '') return
  const people = db
    .selectFrom('people')
    .leftJoin('databases', (join) => join.on('databases.id', '=', database))
    .select(['people.role as owner_role', 'people.databases', 'databases.name'])
  const row = await (by === 'token'
    ? people
        .innerJoin('tokens', 'tokens.owner_id', 'people.id')
        .select(['tokens.role', 'tokens.expires_at'])
        .where('tokens.id', '=', id)
    : people
        .select(['people.role', (eb) => eb.val(null).as('expires_at')])
        .where('people.id', '=', id)
  ).executeTakeFirst()
  const parsed = (text: string): Role => parseColumn(role, 'role', text)
  const needed = neededRole({ kind, collection })
  if (
    row === undefined ||
    (row.expires_at !== null && row.expires_at <= now) ||
    !atLeast(lowerRole(parsed(row.role), parsed(row.owner_role)), needed)
  ) {
    throw new Failure('forbidden', `The caller no longer has the ${needed} role.`)
  }
  if (!inScope(parseScope('people.databases', row.databases), row.name ?? '')) {
    throw new Failure('forbidden', 'The caller no longer has access to the database.')
  }
}

/** Returns the role that a job requires. */
export function neededRole({ kind, collection }: Pick<Job, 'kind' | 'collection'>): AccessRole {
  if (kind === 'list') return 'viewer'
  return collection === WHOLE_DATABASE ? 'operator' : 'editor'
}
