import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import * as z from 'zod/mini'
import type { AppEnv } from '../../env.ts'
import { jsonBody } from './json-body.ts'

const app = new Hono<AppEnv>().post('/', jsonBody(z.record(z.string(), z.number())), (c) =>
  c.json(Object.keys(c.req.valid('json')).length),
)

/** Sends an object with fields; returns the number of fields received. */
async function send(count: number): Promise<unknown> {
  const fields = Array.from({ length: count }, (_, n) => [`key-${n}`, n] as const)
  const body = JSON.stringify(Object.fromEntries(fields))
  const headers = { 'Content-Type': 'application/json' }
  const response = await app.request('/', { method: 'POST', headers, body }, {})
  return response.json()
}

test('a short body is parsed at once, and a long one in several turns of the event loop', async () => {
  const turns = vi.spyOn(globalThis, 'setImmediate')
  expect(await send(10)).toBe(10)
  // Reading a body schedules the end of its share of a turn.
  expect(turns.mock.calls.length).toBeLessThanOrEqual(1)
  expect(await send(20_000)).toBe(20_000)
  expect(turns.mock.calls.length).toBeGreaterThan(4)
})

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
