import { Hono } from 'hono'
import { auditPage, auditQuery } from '../contract/audit.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import { queryInput } from '../http/query-input.ts'
import type { AuditLog } from './audit-log.ts'

/** `/_api/audit`: what was changed, by whom. */
export const auditRoutes = (log: AuditLog, permit: Permit) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'Read the audit log, newest first',
      query: auditQuery,
      answers: { 200: auditPage },
      failures: { 400: 'a parameter is wrong; the message names it' },
    }),
    permit('viewer'),
    queryInput(auditQuery),
    async (c) => c.json(await log.page(c.req.valid('query')), 200),
  )
