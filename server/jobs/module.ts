import { nextTurn } from '../concurrency/turns.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import type { Store } from '../storage/store.ts'
import type { DocumentRules } from './job.ts'
import { createJobs, type JobsDeps } from './jobs.ts'
import { type JobRoutesDeps, jobRoutes } from './routes.ts'

export interface JobsModuleDeps {
  readonly store: Store
  readonly rules: DocumentRules
  readonly documents: JobRoutesDeps['documents']
  readonly http: Pick<HttpModule, 'reserve'>
  readonly requireRole: RequireRole
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
  readonly now: JobsDeps['now']
  readonly leaseClock: NonNullable<JobsDeps['leaseClock']>
  readonly onError: (error: unknown) => void
  readonly search: JobsDeps['search']
  readonly changeDocuments: JobsDeps['changeDocuments']
}

/** Creates the jobs and their routes. */
export function createJobsModule(deps: JobsModuleDeps) {
  const { store, rules, documents, http, requireRole, idOf, now, leaseClock } = deps
  const { onError, search, changeDocuments } = deps
  const jobs = createJobs({
    store,
    rules,
    changeDocuments,
    search,
    now,
    leaseClock,
    pause: nextTurn,
    onError,
  })
  return {
    ...jobs,
    routes: jobRoutes({ jobs, documents, requireRole, reserve: http.reserve, idOf }),
    [Symbol.asyncDispose]: jobs.stop,
  }
}

export type JobsModule = ReturnType<typeof createJobsModule>
