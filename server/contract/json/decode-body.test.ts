import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { decodeBody } from './decode-body.ts'

it('returns the text as it was sent, with a byte order mark', () => {
  expect(decodeBody(Buffer.from('\ufeff{"é":1}'))).toBe('\ufeff{"é":1}')
})

it.each([
  ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'The body is not UTF-8.'],
  ['is gzip', gzipSync('{}'), 'The body is gzip. Send Content-Encoding: gzip.'],
])('rejects a body that %s', (_what, bytes, message) => {
  expect(() => decodeBody(bytes)).toThrow(expect.objectContaining({ code: 'bad-json', message }))
})
