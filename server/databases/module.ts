import type { EventHub } from '../events/hub.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'
import { createDatabaseRegistry } from './registry.ts'
import { databaseRoutes } from './routes.ts'

export interface DatabasesModuleDeps {
  readonly store: Store
  readonly record: Recorder
  readonly events: Pick<EventHub, 'publish'>
  readonly http: Pick<HttpModule, 'sendList'>
  readonly requireRole: RequireRole
}

/** Opens the registry of databases and creates its routes. */
export async function createDatabasesModule({
  store,
  record,
  events,
  http,
  requireRole,
}: DatabasesModuleDeps) {
  const registry = await createDatabaseRegistry(store, events.publish, record)
  return {
    ...registry,
    routes: databaseRoutes({ databases: registry, requireRole, sendList: http.sendList }),
    async [Symbol.asyncDispose]() {},
  }
}

export type DatabasesModule = Awaited<ReturnType<typeof createDatabasesModule>>
