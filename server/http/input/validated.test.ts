import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { TOKEN_DATABASES, tokenInput } from '../../contract/access/token.ts'
import { endpointInput, endpointQuery, MAPPING_NAMES } from '../../contract/endpoints/endpoint.ts'
import { validated } from './validated.ts'

const many = (length: number, item: unknown) => Array.from({ length }, () => item)
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

  it('includes each limit in the API description', () => {
    const { properties } = z.toJSONSchema(endpointInput, { io: 'input' })
    expect(properties?.databases).toMatchObject({ maxItems: MAPPING_NAMES })
    const scope = z.toJSONSchema(tokenInput, { io: 'input' }).properties?.databases
    expect(JSON.stringify(scope)).toContain(`"maxItems":${TOKEN_DATABASES}`)
  })
})
