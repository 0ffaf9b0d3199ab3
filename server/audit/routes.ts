import { Hono, type TypedResponse } from 'hono'
import { administrationScope } from '../contract/access/scope.ts'
import { type AuditPage, auditPage, auditQuery } from '../contract/audit.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import { partsBody } from '../http/output/parts-body.ts'
import { API_JSON } from '../http/output/render-failure.ts'
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
    async (c): Promise<Response & TypedResponse<AuditPage, 200, 'json'>> => {
      const scope = administrationScope(principalOf(c).databases)
      const search = { ...c.req.valid('query'), scope }
      const { rows, next } = await log.page(search, (bytes) => reserve(c, bytes))
      const parts = rows.map((row, at) => Buffer.from(at === 0 ? row : `,${row}`))
      const end = Buffer.from(`],"next":${next}}`)
      const [body, length] = partsBody([Buffer.from('{"rows":['), ...parts, end])
      // The body has this type; the console's client infers it from here.
      return c.body(body, 200, { ...length, 'Content-Type': API_JSON }) as never
    },
  )
