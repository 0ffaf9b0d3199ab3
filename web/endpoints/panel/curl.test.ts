import { expect, test } from 'vitest'
import { parseAddress } from '../../../server/contract/endpoints/address.ts'
import { tryCommands } from './curl.ts'

const page = { protocol: 'http:', hostname: '[::1]', port: '8529' }

const commands = (text: string, mapping: string[], database: string, mayStore = true) => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(parsed.fault)
  const target = { address: parsed.address, mapping, database, mayStore }
  return tryCommands(target, page).map((command) => command.text)
}

test('the default database is asked without its name, another by it', () => {
  const mapping = ['blog', 'shop']
  expect(commands('tcp://127.0.0.1:8530', mapping, 'blog')).toEqual([
    'curl http://127.0.0.1:8530/_api/health',
    'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8530/articles',
    'curl -H "Authorization: Bearer $TOKEN" -H Content-Type:application/json -d \'{"title": "Hello"}\' http://127.0.0.1:8530/articles',
  ])
  expect(commands('tcp://127.0.0.1:8530', mapping, 'shop')[1]).toBe(
    'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8530/_db/shop/articles',
  )
})

test('of _system the endpoints are asked', () => {
  expect(commands('ssl://db.example:8531', [], '_system')[1]).toBe(
    'curl -H "Authorization: Bearer $TOKEN" https://db.example:8531/_api/endpoint',
  )
})

test('nothing that stores is offered to somebody who may not', () => {
  expect(commands('tcp://127.0.0.1:8530', [], 'blog', false)).toHaveLength(2)
})

test.each([
  ['tcp://[::2]:8530', "curl 'http://[::2]:8530/_api/health'"],
  ['tcp://0.0.0.0:8530', "curl 'http://[::1]:8530/_api/health'"],
  ['unix:///run/a.sock', 'curl --unix-socket /run/a.sock http://localhost/_api/health'],
  ["unix:///run/it's here", "curl --unix-socket '/run/it'\\''s here' http://localhost/_api/health"],
])('%s is asked by %s', (address, command) => {
  expect(commands(address, [], '_system')[0]).toBe(command)
})
