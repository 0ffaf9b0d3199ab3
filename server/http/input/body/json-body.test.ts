import { Hono } from 'hono'
import { describe, expect, it, test } from 'vitest'
import * as z from 'zod/mini'
import { SCOPE_DATABASES } from '../../../contract/access/scope.ts'
import { tokenInput } from '../../../contract/access/token.ts'
import {
  endpointInput,
  endpointQuery,
  MAPPING_NAMES,
} from '../../../contract/endpoints/endpoint.ts'
import { Failure, type FailureDetails } from '../../../failure.ts'
import type { AppEnv } from '../../env.ts'
import { jsonBody, requireUtf8, validated } from './json-body.ts'

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
  await rejecting.request('/', { method: 'POST', body }, { listener: {} })
  expect(errors).toMatchObject([{ code: 'bad-json' }])
})

const many = (length: number, item: unknown) => Array.from({ length }, () => item)
/** Returns the details of the failure that a function throws. */
function rejectionOf(validate: () => unknown): FailureDetails {
  try {
    validate()
  } catch (error) {
    if (error instanceof Failure) return error.details
    throw error
  }
  throw new Error('Nothing was rejected.')
}

const endpoint = 'tcp://127.0.0.1:8530'

describe('validated', () => {
  it('accepts a list as long as its limit', () => {
    const databases = many(MAPPING_NAMES, 'a')
    expect(validated(endpointInput, { endpoint, databases }, 'body').databases).toEqual(databases)
  })

  it.each([
    ['strings', 1_001, 'a'],
    // zod checks the length first: it could not report so many errors.
    ['wrong items', 300_000, 1],
  ])('rejects a longer list of %s, naming the limit', (_what, length, item) => {
    const databases = many(length, item)
    const message = 'The body is invalid. databases: at most 1,000 names.'
    const input = { endpoint, databases, name: 'a', role: 'viewer' }
    for (const schema of [endpointInput, tokenInput]) {
      expect(() => validated(schema, input, 'body')).toThrow(message)
    }
    expect(() => validated(endpointQuery, { endpoint: databases }, 'query')).toThrow(
      'endpoint: at most 200 addresses.',
    )
  })

  it('lists each invalid field with its reason', () => {
    const details = rejectionOf(() =>
      validated(tokenInput, { name: '', role: 'viewer', databases: ['a', 1] }, 'body'),
    )
    expect(details).toEqual({
      field: '/name',
      errors: [
        { field: '/name', reason: 'must not be empty' },
        { field: '/databases/1', reason: 'expected string, received number' },
      ],
    })
  })

  it('locates a part of a body, a parameter and an unknown key', () => {
    const within = ['changes', 2]
    expect(rejectionOf(() => validated(tokenInput, 1, 'body', within)).errors).toEqual([
      { field: '/changes/2', reason: 'expected object, received number' },
    ])
    expect(rejectionOf(() => validated(endpointQuery, { endpoint: [1] }, 'query'))).toMatchObject({
      field: 'endpoint',
      errors: [{ field: 'endpoint' }],
    })
    const strict = z.strictObject({})
    expect(rejectionOf(() => validated(strict, { a: 1, b: 2 }, 'body'))).toMatchObject({
      field: '/a',
      errors: [{ field: '/a', reason: 'unknown key "a" and 1 more' }],
    })
    expect(rejectionOf(() => validated(strict, { ['k'.repeat(100)]: 1 }, 'body'))).toMatchObject({
      errors: [{ reason: `unknown key "${'k'.repeat(64)}"` }],
    })
  })

  it('lists ten invalid fields at most', () => {
    const numbers = z.array(z.number())
    expect(rejectionOf(() => validated(numbers, many(11, 'a'), 'body')).errors).toHaveLength(10)
  })

  it('includes each limit in the API description', () => {
    const { properties } = z.toJSONSchema(endpointInput, { io: 'input' })
    expect(properties?.databases).toMatchObject({ maxItems: MAPPING_NAMES })
    const scope = z.toJSONSchema(tokenInput, { io: 'input' }).properties?.databases
    expect(JSON.stringify(scope)).toContain(`"maxItems":${SCOPE_DATABASES}`)
  })
})

it.each([
  'application/json',
  'application/json; charset=utf-8',
  'text/csv;header=present;CHARSET = "UTF-8"',
  'application/x-ndjson; charset=utf8',
  'text/plain; charset=US-ASCII',
  'application/json; charset=',
  'application/json; charset=""',
  "application/json; charset='utf-8'",
  'application/json; profile="a; charset=latin1"',
  'application/json; profile="a\\"; charset=latin1"; charset="ut\\f-8"',
  'application/json; x-charset=utf-16',
])('accepts the type %s', (type) => {
  expect(() => requireUtf8(type)).not.toThrow()
})

it.each([
  'application/x-ndjson; charset=utf-16',
  'application/json;charset="ISO-8859-1"',
  'text/csv; header=present; Charset = Windows-1252',
  'application/json; charset=utf-8; charset=utf-16',
  'text/csv; charset=utf-80',
  'application/json; profile="a;"; charset=latin1',
  "application/json; charset='latin1'",
])('rejects the type %s', (type) => {
  expect(() => requireUtf8(type)).toThrow('must be UTF-8')
})
