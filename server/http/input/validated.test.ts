import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { TOKEN_DATABASES, tokenInput } from '../../contract/access/token.ts'
import { endpointInput, endpointQuery, MAPPING_NAMES } from '../../contract/endpoints/endpoint.ts'
import { Failure, type FailureDetails } from '../../failure.ts'
import { validated } from './validated.ts'

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
    expect(JSON.stringify(scope)).toContain(`"maxItems":${TOKEN_DATABASES}`)
  })
})
