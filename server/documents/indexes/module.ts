import type { ErrorLog } from '../../health/error-log.ts'
import type { RequireRole } from '../../http/guards/require-role.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import { createTurns } from '../../storage/changes/turns.ts'
import type { Store } from '../../storage/open.ts'
import { createBuilder } from './builder.ts'
import { createIndexRepository } from './index-repository.ts'
import { indexRoutes } from './index-routes.ts'
import { createIndexes } from './indexes.ts'

export interface IndexesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly requireRole: RequireRole
  readonly logError: ErrorLog
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Creates the indexes of collections, with the loop that builds them, and their routes. */
export function createIndexesModule(deps: IndexesDeps) {
  const { store, record, requireRole, logError, idOf } = deps
  const repository = createIndexRepository(store, Date.now)
  // Held until the process exits; another node then acquires it.
  const isOurs = () =>
    store.acquireLock('indexes').catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return false
      throw error
    })
  const builder = createBuilder({
    ...{ store, repository, isOurs },
    pause: createTurns(),
    onError: logError('an index could not be built'),
  })
  const indexes = createIndexes(repository, builder.wake)
  return {
    routes: indexRoutes({ indexes, requireRole, record, idOf }),
    put: indexes.put,
    /** Resumes builds. Call it at startup and periodically. */
    wake: builder.wake,
    [Symbol.asyncDispose]: builder.stop,
  }
}

export type IndexesModule = ReturnType<typeof createIndexesModule>
