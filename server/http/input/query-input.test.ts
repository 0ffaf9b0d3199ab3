import { Hono } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { auditQuery } from '../../contract/audit.ts'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import { queryInput } from './query-input.ts'

const app = new Hono<AppEnv>().get('/_api/x', queryInput(auditQuery), (c) =>
  c.json(c.req.valid('query')),
)
app.onError((error, c) => renderFailure(toFailure(error), c))
const sendRequest = (query: string) => app.request(`/_api/x${query}`)

test.each([
  ['', {}],
  ['?other=1&other=2', {}],
  ['?who=github:1&what=endpoint', { who: 'github:1', what: 'endpoint' }],
  ['?what=person.role', { what: 'person.role' }],
  ['?limit=500&before=7', { limit: 500, before: 7 }],
  ['?from=2026-01-02&to=2026-01-02T03:04:05%2B01:00', { from: '2026-01-02' }],
])('%s is accepted', async (query, values) => {
  const response = await sendRequest(query)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject(values)
})

test.each([
  ['limit', '0'],
  ['limit', '501'],
  ['limit', ''],
  ['limit', '1e2'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['before', '0'],
  ['before', '9999999999999999'],
  ['before', 'x'],
  ['what', 'endpoints'],
  ['what', ''],
  ['from', 'yesterday'],
  ['from', '2026-02-30'],
  ['from', '2026-01-02T03:04:05'],
  ['to', '1767322800000'],
  ['who', 'x'.repeat(257)],
])('%s=%s is rejected, and the message names it', async (name, value) => {
  const response = await sendRequest(`?${name}=${value}`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    errorNum: 10,
    errorMessage: expect.stringContaining(`${name}: `),
    field: name,
  })
})

test('a duplicate parameter is rejected', async () => {
  const response = await sendRequest('?limit=1&limit=2')
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    errorMessage: 'limit is given more than once.',
    field: 'limit',
  })
})

test('a list parameter may occur several times, and once makes a list of one', async () => {
  const schema = z.object({ name: z.optional(z.array(z.string())), one: z.optional(z.string()) })
  const lists = new Hono<AppEnv>().get('/', queryInput(schema), (c) => c.json(c.req.valid('query')))
  const read = async (query: string) => (await lists.request(`/${query}`)).json()
  expect(await read('?name=a&name=b&one=c')).toEqual({ name: ['a', 'b'], one: 'c' })
  expect(await read('?name=a')).toEqual({ name: ['a'] })
  expect(await read('')).toEqual({})
})
