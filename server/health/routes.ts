import { type Context, Hono } from 'hono'
import { health } from '../contract/health.ts'
import type { AppEnv } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { describe } from '../http/openapi/describe.ts'
import { healthOf, type Readiness } from './readiness.ts'

const READINESS = {
  summary: 'Check whether the node is ready; 503 if not',
  responses: { 200: health, 503: health },
}

/**
 * Routes of `/_api/health`, public, in every database: liveness and readiness. Load balancers use
 * `/_api/health` or `/_api/health/ready`, which return 503 before a stop. Supervisors use
 * `/_api/health/live`, which does not, so that a draining node is not killed.
 */
export const healthRoutes = (readiness: Readiness, requireRole: RequireRole) => {
  const now = () => healthOf(readiness)
  const respond = (c: Context<AppEnv>) => c.json(now(), readiness.reason === null ? 200 : 503)
  return new Hono<AppEnv>()
    .get('/', describe(READINESS), requireRole('public'), respond)
    .get('/ready', describe(READINESS), requireRole('public'), respond)
    .get(
      '/live',
      describe({ summary: 'Check whether the node is alive', responses: { 200: health } }),
      requireRole('public'),
      (c) => c.json(now(), 200),
    )
}
