import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from './render-failure.ts'
import { requireResponseMemory } from './response-memory.ts'

const app = new Hono<AppEnv>()
  .use(
    requireResponseMemory({
      requireAvailable() {
        throw new Failure('unavailable', 'The budget is exhausted.')
      },
      reserve: () => undefined,
      authenticate: () => {},
    }),
  )
  .get('*', (c) => c.text('served'))
app.onError((error, c) => renderFailure(toFailure(error), c))

describe('while the budget for responses is exhausted', () => {
  it.each([
    ...['/articles', '/articles/1', '/healthz-x', '/_job/1', '/_schema/articles', '/_export'],
  ])('%s is rejected', async (path) => {
    expect((await app.request(path)).status).toBe(503)
  })

  it.each([
    ...['/', '/healthz', '/healthz/live', '/healthz/ready'],
    ...['/_api/health', '/_api/endpoint', '/_console/', '/_index/articles'],
  ])('%s is served', async (path) => {
    expect((await app.request(path)).status).toBe(200)
  })
})
