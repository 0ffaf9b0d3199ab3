import { describe, expect, it } from 'vitest'
import {
  formatEndpointCount,
  formatServingEndpoints,
  servingEndpoints,
  toDatabaseRows,
} from './database-rows.ts'

const endpoints = [
  { endpoint: 'tcp://127.0.0.1:1', databases: [] },
  { endpoint: 'tcp://127.0.0.1:2', databases: ['blog', 'shop'] },
  { endpoint: 'tcp://127.0.0.1:3', databases: ['shop', 'later'] },
]
const size = { collections: 2, documents: 5, bytes: 90, measured: '2026-01-01T00:00:00.000Z' }
const rows = toDatabaseRows(
  ['_system', 'blog', 'shop', 'attic'],
  [{ database: 'blog', ...size }],
  endpoints,
)
const row = (name: string) => {
  const found = rows.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no row ${name}`)
  return found
}

describe('database rows', () => {
  it('list the endpoints that serve each database, named ones first, and mark the default', () => {
    expect(servingEndpoints(row('shop'))).toEqual([
      { endpoint: 'tcp://127.0.0.1:2', isDefault: false },
      { endpoint: 'tcp://127.0.0.1:3', isDefault: true },
      { endpoint: 'tcp://127.0.0.1:1', isDefault: false },
    ])
    expect(formatEndpointCount(row('shop'))).toBe('3, default of 1')
    expect(formatEndpointCount(row('attic'))).toBe('1')
    expect(formatEndpointCount(row('_system'))).toBe('1, default of 1')
    expect(formatEndpointCount(toDatabaseRows(['x'], undefined, [])[0] ?? row('x'))).toBe('None')
  })

  it('include sizes when they are loaded', () => {
    expect(row('blog')).toMatchObject(size)
    expect(row('shop')).toMatchObject({ documents: null, bytes: null, measured: null })
  })
})

describe('a new database', () => {
  it.each([
    ['later', 'by 1 endpoint that already has it in the mapping and 1 endpoint that serves all'],
    ['other', 'by 1 endpoint that serves all databases.'],
  ])('%s is served %s', (name, sentence) => {
    expect(formatServingEndpoints(name, endpoints)).toContain(sentence)
  })

  it('may have no endpoint', () => {
    expect(formatServingEndpoints('other', endpoints.slice(1))).toContain(
      'No endpoint serves it yet',
    )
  })
})
