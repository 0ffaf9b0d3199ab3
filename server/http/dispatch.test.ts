import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { TwoPartRouter } from './dispatch.ts'

const app = new Hono({ router: new TwoPartRouter() })
  .use(async (c, next) => {
    await next()
    c.header('X-Seen', 'yes')
  })
  .use('/_api/*', async (c, next) => {
    await next()
    c.header('X-Api', 'yes')
  })
  .get('/', (c) => c.text('root'))
  .get('/_api/endpoint/:address', (c) => c.text(`endpoint ${c.req.param('address')}`))
  .get('/:collection{[a-z][a-z0-9_-]*}', (c) => c.text(`all of ${c.req.param('collection')}`))
  .get('/:collection{[a-z][a-z0-9_-]*}/:id', (c) =>
    c.text(`${c.req.param('id')} of ${c.req.param('collection')}`),
  )

it.each([
  ['/', 'root', null],
  ['/_api/endpoint/a', 'endpoint a', 'yes'],
  ['/articles', 'all of articles', null],
  ['/articles/_api', '_api of articles', null],
  ['/api/endpoint', 'endpoint of api', null],
  ['/_articles', '404 Not Found', null],
  ['/_articles/1', '404 Not Found', null],
  ['/articles/?id=1', ' of articles', null],
  ['/articles/1/2', '404 Not Found', null],
  ['/Articles/1', '404 Not Found', null],
  ['/_api/other', '404 Not Found', 'yes'],
])('routes %s to %j through the middleware of its part', async (path, text, api) => {
  const response = await app.request(path)
  expect(await response.text()).toBe(text)
  expect(response.headers.get('X-Seen')).toBe('yes')
  expect(response.headers.get('X-Api')).toBe(api)
})
