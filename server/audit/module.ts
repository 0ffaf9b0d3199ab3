import { Counter, type Registry } from 'prom-client'
import type { EventHub } from '../events/hub.ts'
import type { ErrorLog } from '../health/error-log.ts'
import { recordRejections } from '../http/guards/audit-change.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { createRateLimit } from '../rate-limit.ts'
import type { Store } from '../storage/store.ts'
import { createAuditLog } from './audit-log.ts'
import { auditRoutes } from './routes.ts'

export interface AuditModuleDeps {
  readonly store: Store
  readonly events: Pick<EventHub, 'publish'>
  readonly http: Pick<HttpModule, 'reserve'>
  readonly metrics: Registry
  readonly requireRole: RequireRole
  readonly logError: ErrorLog
}

/** Maximum number of rejected changes that are audited per person and minute. */
const MAX_REJECTIONS = 60

/** Creates the audit log, its routes, and the middleware that records rejected changes. */
export function createAuditModule(deps: AuditModuleDeps) {
  const { store, events, http, metrics, requireRole, logError } = deps
  const log = createAuditLog(store)
  const anonymous = new Counter({
    name: 'gatehouse_anonymous_refusals_total',
    help: 'Changes rejected because the caller was not signed in',
    registers: [metrics],
  })
  return {
    routes: auditRoutes(log, requireRole, http.reserve),
    /** Records rejected changes: of known callers in the log, of anonymous ones in a counter. */
    recordRejections: recordRejections({
      record: log.recordRejection,
      countAnonymous: () => anonymous.inc(),
      onRecorded: () => events.publish({ type: 'audit' }),
      limit: createRateLimit({ max: MAX_REJECTIONS, period: 60_000 }),
      onError: logError('cannot write a rejected change to the audit log'),
    }),
    recordRejection: log.recordRejection,
    async [Symbol.asyncDispose]() {},
  }
}

export type AuditModule = ReturnType<typeof createAuditModule>
