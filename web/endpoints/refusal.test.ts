import { expect, test } from 'vitest'
import { ApiFailure, NoAnswer } from '../api.ts'
import { placeRefusal } from './refusal.ts'

const place = (error: Error, scheme: 'tcp' | 'ssl' | 'unix' = 'tcp', adding = true) =>
  Object.keys(placeRefusal(error, { scheme, adding }))[0]
const failure = (status: number, errorNum: number, message: string) =>
  new ApiFailure(status, errorNum, message)

test.each([
  [failure(409, 1200, 'Port 8530 is taken. (EADDRINUSE)'), 'port'],
  [failure(403, 11, 'Ports below 1024 need permission. (EACCES)'), 'port'],
  [failure(400, 10, '10.0.0.7 is no address of this machine. (EADDRNOTAVAIL)'), 'host'],
  [failure(400, 10, 'The name x leads to no address. (ENOTFOUND)'), 'host'],
  [failure(412, 412, 'There is an endpoint tcp://127.0.0.1:8530 already.'), 'port'],
  [failure(400, 1229, '"1" is no database name.'), 'databases'],
  [failure(503, 503, 'No more files can be opened here. (EMFILE)'), 'form'],
  [failure(500, 4, 'Something went wrong.'), 'form'],
  [new NoAnswer('gone'), 'form'],
])('a refusal of a tcp address stands where it belongs: %s', (error, field) => {
  expect(place(error)).toBe(field)
})

test('a missing certificate is a fault of the scheme', () => {
  expect(place(failure(400, 10, 'An ssl endpoint needs a certificate.'), 'ssl')).toBe('scheme')
})

test('whatever the system says of a unix socket stands at its path', () => {
  expect(place(failure(409, 1200, 'Another program listens. (EADDRINUSE)'), 'unix')).toBe('path')
  expect(place(failure(400, 10, 'No socket can be made. (ENOENT)'), 'unix')).toBe('path')
})

test('the last way in is a fault of the databases when a mapping is edited', () => {
  expect(place(failure(409, 1200, 'Nobody could administer.'), 'tcp', false)).toBe('databases')
})
