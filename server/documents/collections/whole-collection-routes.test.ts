import type { MiddlewareHandler } from 'hono'
import { expect, it, vi } from 'vitest'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import { createErrorHandler } from '../../http/output/render-failure.ts'
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
    tokenName: null,
    databases: null,
    expires: null,
    idleExpires: null,
  })
  return proceed()
}

it('starts no job in a database that is dropped while the patch arrives', async () => {
  let isDropped = false
  const begin = vi.fn<WholeCollections['begin']>(async () => ({ id: '1' }))
  const routes = wholeCollectionRoutes('/:collection', {
    collections: { begin, change: async () => 0 },
    requireRole: () => asAda,
    collectionOf() {
      if (isDropped) throw new Failure('database-not-found', 'database not found')
      return { database: 'a', collection: 'b' }
    },
  }).onError(createErrorHandler(() => () => {}))
  const body = new ReadableStream(
    {
      pull(controller) {
        isDropped = true
        controller.enqueue(Buffer.from('{"a":1}'))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'Content-Type': 'application/json', Prefer: 'respond-async' }
  const init = { method: 'PATCH', headers, body, duplex: 'half' } as const
  const env = { listener: { countRejected() {} } }
  expect((await routes.request('/b', init, env)).status).toBe(404)
  expect(begin).not.toHaveBeenCalled()
})
