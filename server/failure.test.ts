import { describe, expect, it } from 'vitest'
import {
  Failure,
  type FailureCode,
  failureAt,
  failureKinds,
  systemCode,
  toErrorBody,
  toErrorObject,
} from './failure.ts'

describe('Failure', () => {
  it.each(Object.entries(failureKinds))('%s has a status of failure and an id', (code, kind) => {
    expect(kind.status).toBeGreaterThanOrEqual(400)
    expect(kind.status).toBeLessThan(600)
    expect(kind.id).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
    expect(new Failure(code as FailureCode, 'why').kind).toBe(kind)
  })

  it('has the error numbers of docs/http-api.md', () => {
    const numbers = Object.fromEntries(
      Object.entries(failureKinds).map(([code, { status, errorNum }]) => [
        code,
        [status, errorNum],
      ]),
    )
    expect(numbers).toMatchObject({
      'bad-parameter': [400, 10],
      'bad-json': [400, 600],
      'bad-database-name': [400, 1229],
      'system-only': [400, 1230],
      unauthenticated: [401, 401],
      forbidden: [403, 11],
      'database-not-found': [404, 1228],
      'endpoint-not-found': [404, 1231],
      conflict: [409, 1200],
      'database-exists': [409, 1207],
      internal: [500, 4],
      unavailable: [503, 503],
      'insufficient-storage': [507, 507],
    })
  })

  it('keeps its cause for the log', () => {
    const cause = new Error('inside')
    expect(new Failure('internal', 'why', { cause }).cause).toBe(cause)
  })

  it('is copied with another message and further details, and keeps everything else', () => {
    const cause = new Error('inside')
    const headers = { 'Retry-After': '1' }
    const failure = new Failure('busy', 'why', { cause, headers, field: '/a', stored: 1 })
    const copy = failure.with({ message: 'because', stored: 2 })
    expect(copy).toMatchObject({ code: 'busy', message: 'because', cause, headers })
    expect(copy.details).toEqual({ field: '/a', stored: 2 })
    expect(failure).toMatchObject({ message: 'why', details: { field: '/a', stored: 1 } })
    expect(failure.with({ field: '/b' }).message).toBe('why')
  })
})

describe('failureAt', () => {
  it('prepends the pointer to each invalid part', () => {
    const errors = [{ field: '/a', reason: 'missing' }, { reason: 'late' }]
    const { details } = failureAt('/changes/0', new Failure('invalid', 'why', { errors }))
    expect(details.errors).toEqual([
      { field: '/changes/0/a', reason: 'missing' },
      { field: '/changes/0', reason: 'late' },
    ])
  })

  it('prepends a pointer to the field and keeps everything else', () => {
    const cause = new Error('inside')
    const headers = { 'Retry-After': '1' }
    const taken = new Failure('conflict', 'why', { cause, headers, systemCode: 'EADDRINUSE' })
    const located = failureAt('/changes/1', failureAt('/endpoint', taken))
    expect(located).toMatchObject({ code: 'conflict', message: 'why', cause, headers })
    expect(located.details).toEqual({ field: '/changes/1/endpoint', systemCode: 'EADDRINUSE' })
  })

  it('returns failures that the caller did not cause unchanged', () => {
    const failure = new Failure('unavailable', 'why')
    expect(failureAt('/endpoint', failure)).toBe(failure)
  })
})

describe('a response body', () => {
  const errors = [{ field: '/id', reason: 'missing' }]
  const common = { field: '/id', errors, systemCode: 'EEXIST' }
  const failure = new Failure('conflict', 'why', { ...common, ids: ['a'] })

  it('carries the fields and the system code under /_api', () => {
    const error = { error: true, code: 409, errorNum: 1200, errorMessage: 'why' }
    expect(toErrorObject(failure)).toEqual({ ...error, ...common })
    expect(Object.keys(toErrorObject(new Failure('conflict', 'why')))).toEqual(Object.keys(error))
  })

  it('carries all details elsewhere', () => {
    expect(toErrorBody(failure)).toEqual({ id: 'conflict', message: 'why', ...common, ids: ['a'] })
  })
})

describe('systemCode', () => {
  it('returns the code of system errors only', () => {
    expect(systemCode(Object.assign(new Error('x'), { code: 'EADDRINUSE' }))).toBe('EADDRINUSE')
    expect(systemCode(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined()
    expect(systemCode(null)).toBeUndefined()
  })
})
