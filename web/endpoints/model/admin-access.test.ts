import { expect, test } from 'vitest'
import { consoleUrl, reachedAddress } from './admin-access.ts'

test.each([
  ['tcp://10.0.0.4:8529', 'http://127.0.0.1:8529/', 'http://10.0.0.4:8529'],
  ['ssl://[::1]:8529', 'http://127.0.0.1:8529/', 'https://[::1]:8529'],
  ['tcp://0.0.0.0:8540', 'http://192.168.1.10:8529/', 'http://192.168.1.10:8540'],
  ['tcp://[::]:8540', 'http://[2001:db8::7]:8529/', 'http://[2001:db8::7]:8540'],
  ['tcp://0.0.0.0:8540', 'http://gate.example:8529/', 'http://gate.example:8540'],
  ['tcp://[::]:8540', 'http://gate.example:8529/', 'http://gate.example:8540'],
])('the console at %s is linked from %s as %s', (address, page, origin) => {
  expect(consoleUrl(address, new URL(page))).toBe(`${origin}/_console/endpoints`)
})

test.each([
  ['unix:///run/a.sock', 'http://127.0.0.1:8529/'],
  ['tcp://[::]:8540', 'http://192.168.1.10:8529/'],
  ['tcp://0.0.0.0:8540', 'http://[2001:db8::7]:8529/'],
])('the console at %s is not linked from %s', (address, page) => {
  expect(consoleUrl(address, new URL(page))).toBeUndefined()
})

test.each([
  ['tcp://0.0.0.0:8540', 'tcp://0.0.0.0:8540'],
  ['tcp://127.0.0.1:8540', 'tcp://gate.test:8540'],
  [undefined, 'tcp://gate.test:8540'],
])('an endpoint at a name that is bound to %s is reached at %s', (bound, reached) => {
  expect(reachedAddress('tcp://gate.test:8540', [{ bound }])).toBe(reached)
})
