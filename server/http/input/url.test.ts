import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import { searchParameters } from './url.ts'

const app = new Hono<AppEnv>().get('/articles', (c) => c.json([...searchParameters(c)]))
app.onError((error, c) => renderFailure(toFailure(error), c))
const sendRequest = (query: string) => app.request(`/articles${query}`)

test.each<[string, readonly (readonly [string, string])[]]>([
  ['', []],
  ['?', []],
  [
    '?a=b&a=c',
    [
      ['a', 'b'],
      ['a', 'c'],
    ],
  ],
  ['?a%2Eb=c+d%20%C3%A4%F0%9F%98%80', [['a.b', 'c d ä😀']]],
  ['?a=%2525%00', [['a', '%25\0']]],
  [
    '?a&&=b',
    [
      ['a', ''],
      ['', 'b'],
    ],
  ],
])('%j has the parameters %j', async (query, parameters) => {
  const response = await sendRequest(query)
  expect([response.status, await response.json()]).toEqual([200, parameters])
})

test.each([
  ['?a=1&author=%ZZ', 'author'],
  ['?author=100%', 'author'],
  ['?author=%2', 'author'],
  ['?author=%FF', 'author'],
  ['?author=%C3', 'author'],
  ['?author=%C3&b=%A4', 'author'],
  ['?author=%C0%80', 'author'],
  ['?author=%ED%A0%80', 'author'],
  ['?author%2Ename+x=%ff&b=%ff', 'author.name x'],
  ['?%ZZ=1', '%ZZ'],
  ['?author%', 'author%'],
  ['?%E2=%82%AC', '%E2'],
])('%s is rejected, and the error names %j', async (query, field) => {
  const response = await sendRequest(query)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    id: 'bad_request',
    message: `The parameter ${JSON.stringify(field)} is not percent-encoded UTF-8.`,
    field,
  })
})
