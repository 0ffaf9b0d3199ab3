import type { Logger } from 'pino'
import type { RequireRole } from '../../http/guards/require-role.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { createSchemaChecker } from './schema-checker.ts'
import { schemaRoutes } from './schema-routes.ts'
import { createSchemas } from './schemas.ts'

export interface SchemasModuleDeps {
  readonly store: Store
  readonly record: Recorder
  readonly log: Pick<Logger, 'warn'>
  readonly requireRole: RequireRole
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Creates the schemas of collections, with the worker that checks documents, and their routes. */
export function createSchemasModule({ store, record, log, requireRole, idOf }: SchemasModuleDeps) {
  const checker = createSchemaChecker({}, Date.now, (schema) =>
    log.warn({ schema }, 'a schema took too long and is temporarily rejected'),
  )
  const schemas = createSchemas(store, checker)
  return {
    ...schemas,
    routes: schemaRoutes({ schemas, record, requireRole, idOf }),
    async [Symbol.asyncDispose]() {
      await checker.close()
    },
  }
}

export type SchemasModule = ReturnType<typeof createSchemasModule>
