import { Hono } from 'hono'
import { type Health, health } from '../contract/health.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import type { Readiness } from './readiness.ts'

/**
 * `/_api/health`, public, in every database: whether the node is alive and whether it is ready. A
 * balancer asks `/_api/health` or `/_api/health/ready`, which turn 503 before a stop; a supervisor
 * asks `/_api/health/live`, which does not, or it would kill a node that drains.
 */
export const healthRoutes = (readiness: Readiness, permit: Permit) => {
  const now = (): Health => ({
    alive: true,
    ready: readiness.reason === null,
    waiting: readiness.connections().waiting,
    writable: readiness.readOnly === null,
    reason: readiness.reason ?? readiness.readOnly,
  })
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'Whether the node is ready (503 where not)',
        answers: { 200: health, 503: health },
      }),
      permit('public'),
      (c) => c.json(now(), readiness.reason === null ? 200 : 503),
    )
    .get(
      '/ready',
      describe({
        summary: 'Whether the node is ready (503 where not)',
        answers: { 200: health, 503: health },
      }),
      permit('public'),
      (c) => c.json(now(), readiness.reason === null ? 200 : 503),
    )
    .get(
      '/live',
      describe({ summary: 'Whether the node is alive', answers: { 200: health } }),
      permit('public'),
      (c) => c.json(now(), 200),
    )
}
