import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from './render-failure.ts'
import { requireResponseMemory } from './response-memory.ts'

it('rejects requests while the budget for responses is exhausted', async () => {
  const app = new Hono<AppEnv>()
    .use(
      requireResponseMemory({
        requireAvailable() {
          throw new Failure('unavailable', 'The budget is exhausted.')
        },
        reserve: () => undefined,
      }),
    )
    .get('*', (c) => c.text('served'))
  app.onError((error, c) => renderFailure(toFailure(error), c))
  expect((await app.request('/articles', {}, {})).status).toBe(503)
})
