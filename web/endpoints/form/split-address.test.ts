import { describe, expect, test } from 'vitest'
import { splitAddress, splitPasted } from './split-address.ts'

describe('text in the host field fills', () => {
  test.each([
    ['tcp://127.0.0.1:8530', { scheme: 'tcp', host: '127.0.0.1', port: '8530' }],
    [' \tSSL://[::1]:8530/\n', { scheme: 'ssl', host: '[::1]', port: '8530' }],
    ['unix:///run/gatehouse.sock', { scheme: 'unix', path: '/run/gatehouse.sock' }],
    ['tcp://db.example.com', { scheme: 'tcp', host: 'db.example.com' }],
    ['127.0.0.1:8530', { host: '127.0.0.1', port: '8530' }],
    ['[::1]:8530', { host: '[::1]', port: '8530' }],
    ['[fe80::1%eth0]:8530', { host: '[fe80::1%eth0]', port: '8530' }],
    ['localhost:8530', { host: 'localhost', port: '8530' }],
    ['::1', { host: '[::1]' }],
    ['::', { host: '[::]' }],
    [' fe80::1%eth0 ', { host: '[fe80::1%eth0]' }],
    ['2001:db8::1:8530', { host: '[2001:db8::1:8530]' }],
    ['tcp://::1', { scheme: 'tcp', host: '[::1]' }],
    ['[::1]', { host: '[::1]' }],
    ['db.example.com', { host: 'db.example.com' }],
    ['http://127.0.0.1:8530/_console/', { scheme: 'tcp', host: '127.0.0.1', port: '8530' }],
    ['https://[::1]:8530', { scheme: 'ssl', host: '[::1]', port: '8530' }],
    ['https://db.example.com/a?b', { scheme: 'ssl', host: 'db.example.com' }],
    // Taken as a host; validation rejects it with a reason.
    ['ftp://127.0.0.1:8530', { host: 'ftp://127.0.0.1:8530' }],
    ['x:y:z', { host: 'x:y:z' }],
    ['', { host: '' }],
  ])('%j: %j', (text, fields) => {
    expect(splitAddress(text)).toEqual(fields)
  })
})

describe('text in the port or path field', () => {
  test.each([
    ['tcp://127.0.0.1:8530', { scheme: 'tcp', host: '127.0.0.1', port: '8530' }],
    ['127.0.0.1:8530', { host: '127.0.0.1', port: '8530' }],
    ['unix:///run/a.sock', { scheme: 'unix', path: '/run/a.sock' }],
  ])('%j fills %j', (text, fields) => {
    expect(splitPasted(text)).toEqual(fields)
  })

  test.each(['8530', ' 8530 ', '', '/run/a.sock', '/run/a:8530', '::1', '85x'])(
    '%j stays where it is',
    (text) => {
      expect(splitPasted(text)).toBeUndefined()
    },
  )
})
