import { nextTurn } from '../../concurrency/turns.ts'
import type { EventHub } from '../../events/hub.ts'
import type { ErrorLog } from '../../health/error-log.ts'
import type { RequireRole } from '../../http/guards/require-role.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { createBuilder } from './build/builder.ts'
import { createIndexRepository } from './index-repository.ts'
import { indexRoutes } from './index-routes.ts'
import { createIndexes } from './indexes.ts'

export interface IndexesModuleDeps {
  readonly store: Store
  readonly record: Recorder
  readonly requireRole: RequireRole
  readonly events: Pick<EventHub, 'publish'>
  readonly logError: ErrorLog
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Creates the indexes of collections, with the loop that builds them, and their routes. */
export function createIndexesModule(deps: IndexesModuleDeps) {
  const { store, record, requireRole, events, logError, idOf } = deps
  const repository = createIndexRepository(store, Date.now)
  // Held until the process exits; another node then acquires it.
  const holdsBuildLock = () =>
    store.acquireLock('indexes').catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return false
      throw error
    })
  const onError = logError('the states of indexes could not be read')
  let states = ''
  /** Publishes an event if an index has changed on this node or another. */
  async function notify(): Promise<void> {
    const now = await repository.states()
    if (now !== states) events.publish({ type: 'index' })
    states = now
  }
  const notifySoon = () => void notify().catch(onError)
  const builder = createBuilder({
    store,
    repository,
    holdsBuildLock,
    pause: nextTurn,
    onEnded: notifySoon,
    onError: logError('an index could not be built'),
  })
  function onChange(): void {
    notifySoon()
    builder.wake()
  }
  const indexes = createIndexes(repository, onChange)
  return {
    routes: indexRoutes({ indexes, requireRole, record, idOf }),
    put: indexes.put,
    /** Resumes builds. Call it at startup and periodically. */
    wake: builder.wake,
    /** Resumes builds and publishes events, after a change by another node or by a job. */
    onChange,
    [Symbol.asyncDispose]: builder.stop,
  }
}

export type IndexesModule = ReturnType<typeof createIndexesModule>
