import { Hono } from 'hono'
import { auditPage, auditQuery } from '../contract/audit/audit.ts'
import type { AppEnv } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import type { AuditLog } from './audit-log.ts'

/** Routes of `/_api/audit`. */
export const auditRoutes = (log: AuditLog, requireRole: RequireRole, reserve: Reserve) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'Read the audit log, newest first',
      query: auditQuery,
      responses: { 200: auditPage },
      failures: { 400: 'a parameter is invalid; the message names it' },
    }),
    requireRole('viewer'),
    queryInput(auditQuery),
    async (c) => {
      const page = await log.page(c.req.valid('query'), (bytes) => reserve(c, bytes))
      return c.json(page, 200)
    },
  )
