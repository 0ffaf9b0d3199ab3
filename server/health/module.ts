import type { RequireRole } from '../http/guards/require-role.ts'
import type { ChangeSync } from '../nodes/change-sync.ts'
import type { Store } from '../storage/store.ts'
import { createFreshness } from './freshness.ts'
import type { NodeReadiness } from './readiness.ts'
import { healthRoutes } from './routes.ts'

export interface HealthModuleDeps {
  readonly store: Pick<Store, 'readRevision'>
  readonly readiness: NodeReadiness
  readonly changes: Pick<ChangeSync, 'syncTo'>
  readonly requireRole: RequireRole
}

/** Creates the freshness of a node's state and the routes that report its health. */
export function createHealthModule({ store, readiness, changes, requireRole }: HealthModuleDeps) {
  // With SQLite, each request checks for changes instead.
  const freshness =
    store.readRevision &&
    createFreshness({
      readRevision: store.readRevision,
      syncTo: changes.syncTo,
      changed: readiness.setStale,
    })
  if (freshness !== undefined) readiness.isFresh = freshness.isFresh
  return {
    routes: healthRoutes(readiness, requireRole),
    freshness,
    /** Confirms the state, and again every second. */
    start: async () => freshness?.start(),
    async [Symbol.asyncDispose]() {
      freshness?.stop()
    },
  }
}

export type HealthModule = ReturnType<typeof createHealthModule>
