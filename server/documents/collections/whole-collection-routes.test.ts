import type { MiddlewareHandler } from 'hono'
import { expect, it } from 'vitest'
import type { AppEnv } from '../../http/env.ts'
import { type WholeCollections, wholeCollectionRoutes } from './whole-collection-routes.ts'

const asAda: MiddlewareHandler<AppEnv> = (c, proceed) => {
  c.set('principal', {
    personId: 'ada',
    username: 'ada',
    name: 'Ada',
    provider: 'local',
    role: 'admin',
    by: 'session',
    credential: '1',
    databases: null,
    expires: null,
    idleExpires: null,
  })
  return proceed()
}

it('parses a large patch in several turns of the event loop', async () => {
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  const collections: WholeCollections = {
    begin: async () => ({ id: '1' }),
    run: async () => turn,
  }
  const routes = wholeCollectionRoutes('/:collection', {
    collections,
    requireRole: () => asAda,
    collectionOf: () => ({ database: 'a', collection: 'b' }),
    jsonHeaders: () => ({ 'Content-Type': 'application/json' }),
  })
  const body = `{"list":[${Array(300_000).fill(' 1').join()}]}`
  const headers = { 'Content-Type': 'application/json' }
  const response = await routes.request('/b', { method: 'PATCH', headers, body }, {})
  clearImmediate(next)
  expect(await response.json()).toEqual({ changed: expect.any(Number) })
  expect(turn).toBeGreaterThanOrEqual(8)
})
