import { Hono } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { AppEnv } from '../../env.ts'
import { jsonBody } from './json-body.ts'

const app = new Hono<AppEnv>().post('/', jsonBody(z.record(z.string(), z.number())), (c) =>
  c.json(Object.keys(c.req.valid('json')).length),
)

test.each([
  ['is not UTF-8', Buffer.from('{"name\xff": 1}', 'latin1')],
  ['begins with a byte order mark', Buffer.from('\ufeff{}')],
])('a body that %s is rejected', async (_, body) => {
  const errors: Error[] = []
  const rejecting = new Hono<AppEnv>().route('/', app).onError((error, c) => {
    errors.push(error)
    return c.body(null, 500)
  })
  await rejecting.request('/', { method: 'POST', body }, {})
  expect(errors).toMatchObject([{ code: 'bad-json' }])
})
