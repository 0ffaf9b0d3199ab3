import { describe, expect, it } from 'vitest'
import { Failure, type FailureCode, failureKinds, systemCode } from './failure.ts'

describe('Failure', () => {
  it.each(Object.entries(failureKinds))('%s has a status of failure and an id', (code, kind) => {
    expect(kind.status).toBeGreaterThanOrEqual(400)
    expect(kind.status).toBeLessThan(600)
    expect(kind.id).toMatch(/^[a-z]+(?:_[a-z]+)*$/)
    expect(new Failure(code as FailureCode, 'why').kind).toBe(kind)
  })

  it('keeps the numbers that the seeds and the design name', () => {
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
})

describe('systemCode', () => {
  it('reads the code of a system error, and of nothing else', () => {
    expect(systemCode(Object.assign(new Error('x'), { code: 'EADDRINUSE' }))).toBe('EADDRINUSE')
    expect(systemCode(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined()
    expect(systemCode(null)).toBeUndefined()
  })
})
