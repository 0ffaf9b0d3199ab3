import { expect, test } from 'vitest'
import { consoleUrl, findOwnEndpoint } from './admin-access.ts'

const at = (url: string) => new URL(url)

test.each([
  [
    'http://127.0.0.1:8529/',
    ['tcp://0.0.0.0:8529', 'tcp://127.0.0.1:8529'],
    'tcp://127.0.0.1:8529',
  ],
  ['http://localhost:8529/', ['tcp://127.0.0.1:8529'], 'tcp://127.0.0.1:8529'],
  ['http://[::1]:8529/', ['tcp://[::1]:8529'], 'tcp://[::1]:8529'],
  ['http://10.0.0.4:8529/', ['tcp://127.0.0.1:8529', 'tcp://0.0.0.0:8529'], 'tcp://0.0.0.0:8529'],
  ['http://10.0.0.4:8529/', ['tcp://127.0.0.1:8529'], undefined],
  ['https://example.com/', ['ssl://0.0.0.0:443', 'tcp://0.0.0.0:443'], 'ssl://0.0.0.0:443'],
  ['http://127.0.0.1:8529/', ['unix:///run/a.sock', 'ssl://127.0.0.1:8529'], undefined],
])('a page at %s is served by one of %j: %s', (url, addresses, mine) => {
  expect(findOwnEndpoint(at(url), addresses)).toBe(mine)
})

test.each([
  ['tcp://10.0.0.4:8529', 'http://10.0.0.4:8529/_console/endpoints'],
  ['ssl://[::1]:8529', 'https://[::1]:8529/_console/endpoints'],
  ['tcp://0.0.0.0:8540', 'http://127.0.0.1:8540/_console/endpoints'],
  ['unix:///run/a.sock', undefined],
])('the console at %s is found at %s', (address, url) => {
  expect(consoleUrl(address, at('http://127.0.0.1:8529/'))).toBe(url)
})
