import { Hono } from 'hono'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { describe } from '../http/openapi/describe.ts'
import { partsBody } from '../http/output/parts-body.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import type { Metrics } from './metrics.ts'

/** Routes of `/_api/metrics`. */
export const metricsRoutes = (metrics: Metrics, requireRole: RequireRole, reserve: Reserve) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'Get the metrics', responses: { 200: 'text/plain' } }),
    requireRole('viewer', { inMemory: true }),
    async (c) => {
      const [body, length] = partsBody(await metrics.read(principalOf(c).databases))
      await reserve(c, Number(length['Content-Length']))
      return c.body(body, 200, { ...length, 'Content-Type': metrics.contentType })
    },
  )
