import { expect, test } from 'vitest'
import { ApiFailure, NoResponse } from '../../api/client.ts'
import { toFieldErrors } from './field-errors.ts'

const fieldOf = (error: Error, scheme: 'tcp' | 'ssl' | 'unix' = 'tcp', adding = true) =>
  Object.keys(toFieldErrors(error, { scheme, adding }))[0]
const failure = (
  status: number,
  errorNum: number,
  details: { field?: string; systemCode?: string } = {},
) => new ApiFailure(status, errorNum, 'The reason.', details)
const ofAddress = (status: number, errorNum: number, systemCode?: string) =>
  failure(status, errorNum, { field: '/endpoint', ...(systemCode && { systemCode }) })

test.each([
  ['a port that is taken', ofAddress(409, 1200, 'EADDRINUSE'), 'port'],
  ['a port below 1024', ofAddress(403, 11, 'EACCES'), 'port'],
  ['an address of another machine', ofAddress(400, 10, 'EADDRNOTAVAIL'), 'host'],
  ['an unknown name', ofAddress(400, 10, 'ENOTFOUND'), 'host'],
  ['an endpoint that exists', failure(412, 412), 'port'],
  ['a bad name', failure(400, 1229, { field: '/databases/1' }), 'databases'],
  ['too many open files', failure(503, 503, { systemCode: 'EMFILE' }), 'form'],
  ['an unexpected error', failure(500, 4), 'form'],
  ['no response', new NoResponse('gone'), 'form'],
])('%s is shown at the field of a tcp address that it concerns', (_what, error, field) => {
  expect(fieldOf(error)).toBe(field)
})

test('a missing certificate is an error of the scheme', () => {
  expect(fieldOf(ofAddress(400, 10), 'ssl')).toBe('scheme')
})

test('every error of a unix socket is shown at its path', () => {
  expect(fieldOf(ofAddress(409, 1200, 'EADDRINUSE'), 'unix')).toBe('path')
  expect(fieldOf(ofAddress(400, 10, 'ENOENT'), 'unix')).toBe('path')
  expect(fieldOf(ofAddress(400, 10), 'unix')).toBe('path')
})

test('the last admin access is an error of the databases when a mapping is edited', () => {
  expect(fieldOf(failure(409, 1200), 'tcp', false)).toBe('databases')
})
