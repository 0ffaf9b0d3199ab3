import { expect, test } from 'vitest'
import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import { tryCommands } from './curl.ts'

const commands = (
  text: string,
  mapping: string[],
  database: string,
  { mayStore = true, isPublic = false, hostname = '[::1]' } = {},
) => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(parsed.message)
  const rules = { mayStore, isPublic }
  const target = { address: parsed.address, mapping, database, collection: 'orders', ...rules }
  return tryCommands(target, { hostname }).map((command) => command.text)
}

test('only the default database is requested without its name', () => {
  const mapping = ['blog', 'shop']
  expect(commands('tcp://127.0.0.1:8530', mapping, 'blog')).toEqual([
    'curl http://127.0.0.1:8530/_api/health',
    'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8530/orders',
    'curl -H "Authorization: Bearer $TOKEN" -H Content-Type:application/json -d \'{"title": "Hello"}\' http://127.0.0.1:8530/orders',
  ])
  expect(commands('tcp://127.0.0.1:8530', mapping, 'shop')[1]).toBe(
    'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8530/_db/shop/orders',
  )
})

test('_system lists the endpoints', () => {
  expect(commands('ssl://db.example:8531', [], '_system')[1]).toBe(
    'curl -H "Authorization: Bearer $TOKEN" https://db.example:8531/_api/endpoint',
  )
})

test('commands that store need the permission', () => {
  expect(commands('tcp://127.0.0.1:8530', [], 'blog', { mayStore: false })).toHaveLength(2)
})

test('a public collection is read without a token', () => {
  expect(commands('tcp://127.0.0.1:8530', ['blog'], 'blog', { isPublic: true })[1]).toBe(
    'curl http://127.0.0.1:8530/orders',
  )
})

test('without a collection, only the command that creates one is suggested', () => {
  const parsed = parseAddress('tcp://127.0.0.1:8530')
  if (!parsed.ok) throw new Error(parsed.message)
  const unknown = { collection: undefined, isPublic: false }
  const target = { address: parsed.address, mapping: [], database: 'blog', ...unknown }
  const labels = (mayStore: boolean) =>
    tryCommands({ ...target, mayStore }, { hostname: '[::1]' }).map(({ label }) => label)
  expect(labels(true)).toEqual([
    'Check health',
    'Insert a document, which creates the collection articles',
  ])
  expect(labels(false)).toEqual(['Check health'])
})

test.each([
  ['tcp://[::2]:8530', "curl 'http://[::2]:8530/_api/health'"],
  ['tcp://[::]:8530', "curl 'http://[::1]:8530/_api/health'"],
  ['tcp://0.0.0.0:8530', 'curl http://127.0.0.1:8530/_api/health'],
  ['unix:///run/a.sock', 'curl --unix-socket /run/a.sock http://localhost/_api/health'],
  ["unix:///run/it's here", "curl --unix-socket '/run/it'\\''s here' http://localhost/_api/health"],
])('%s is requested with %s', (address, command) => {
  expect(commands(address, [], '_system')[0]).toBe(command)
})

test.each([
  ['tcp://0.0.0.0:8530', '192.168.1.10', 'curl http://192.168.1.10:8530/_api/health'],
  ['tcp://[::]:8530', '192.168.1.10', "curl 'http://[<IPv6 address>]:8530/_api/health'"],
  ['tcp://0.0.0.0:8530', '[2001:db8::7]', "curl 'http://<IPv4 address>:8530/_api/health'"],
  ['tcp://[::]:8530', 'gate.example', 'curl http://gate.example:8530/_api/health'],
])('%s is requested from a page at %s with %s', (address, hostname, command) => {
  expect(commands(address, [], '_system', { hostname })[0]).toBe(command)
})
