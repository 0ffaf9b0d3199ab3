import type { Context } from 'hono'
import { describe, expect, it, test } from 'vitest'
import type { AppEnv } from '../env.ts'
import { createClientOf } from './client-address.ts'

/**
 * Returns the client of a request with these headers from `peer`; undefined stands for a Unix
 * socket.
 */
function clientOf(
  trusted: readonly string[],
  peer: string | undefined,
  headers: Record<string, string>,
  scheme: 'tcp' | 'ssl' | 'unix' = 'tcp',
  url = '/',
) {
  const lower = new Headers({ Host: 'gate.example', ...headers })
  return createClientOf(trusted)({
    env: {
      incoming: { url, socket: { remoteAddress: peer }, headers: Object.fromEntries(lower) },
      listener: { address: { scheme } },
    },
    req: { header: (name: string) => lower.get(name) ?? undefined },
  } as unknown as Context<AppEnv>)
}

const forged = {
  'X-Forwarded-For': '127.0.0.1',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'localhost',
  Forwarded: 'for=127.0.0.1;proto=https;host=localhost',
  'X-Real-IP': '127.0.0.1',
}
const direct = (address: string | null) => ({ address, secure: false, host: 'gate.example' })

describe('forwarded headers', () => {
  it.each([
    ['https, https', true],
    ['http,https ', true],
    ['https, http', false],
    ['', false],
  ])('with X-Forwarded-Proto: %s are those of the nearest proxy', (proto, secure) => {
    const client = clientOf(['10.0.0.1'], '10.0.0.1', { 'X-Forwarded-Proto': proto })
    expect(client.secure).toBe(secure)
  })

  it.each([
    [[], '192.0.2.7'],
    [['10.0.0.1'], '192.0.2.7'],
    [['10.0.0.0/8'], '11.0.0.1'],
    [['10.0.0.1'], '::1'],
    [[], '127.0.0.1'],
  ])('are ignored if %j is trusted and %s sends them', (trusted, peer) => {
    expect(clientOf(trusted, peer, forged)).toEqual(direct(peer))
  })

  it.each([
    ['192.0.2.7:5678', '192.0.2.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['192.0.2.7:port', '10.0.0.1'],
  ])('contain the client in X-Forwarded-For: %s', (hops, address) => {
    const client = clientOf(['10.0.0.1'], '10.0.0.1', { 'X-Forwarded-For': hops })
    expect(client.address).toBe(address)
  })

  it('are ignored over a unix socket without a trusted proxy', () => {
    expect(clientOf([], undefined, forged, 'unix')).toEqual(direct(null))
  })

  it.each(['10.1.2.3', '::ffff:10.1.2.3'])(
    'are used when the trusted proxy %s sends them',
    (peer) => {
      const headers = {
        'X-Forwarded-For': '192.0.2.7',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'other.example',
      }
      expect(clientOf(['10.0.0.0/8'], peer, headers)).toEqual({
        address: '192.0.2.7',
        secure: true,
        host: 'other.example',
      })
    },
  )

  it.each([
    ['127.0.0.1, 192.0.2.7', '192.0.2.7'],
    ['127.0.0.1, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
    ['127.0.0.1, ::ffff:192.0.2.7', '192.0.2.7'],
    ['10.0.0.2', '10.0.0.1'],
    // A proxy adds only addresses. Everything left of another value is untrusted.
    ['192.0.2.7, nonsense', '10.0.0.1'],
    ['', '10.0.0.1'],
  ])('name the client added by trusted proxies: %j', (hops, address) => {
    expect(clientOf(['10.0.0.0/8'], '10.0.0.1', { 'X-Forwarded-For': hops }).address).toBe(address)
  })

  it.each([
    ['gate.example', 'gate.example'],
    ['first.example, gate.example:8443', 'gate.example:8443'],
    ['Gate.Example', 'Gate.Example'],
    ['[::1]:8529', '[::1]:8529'],
    ['evil.com/.localhost', 'direct'],
    ['evil.com\\.localhost', 'direct'],
    ['user@localhost', 'direct'],
    ['localhost?x', 'direct'],
    ['evil.com#.localhost', 'direct'],
    ['', 'direct'],
  ])('contain a host only if it parses to itself: %j', (forwarded, host) => {
    const headers = { Host: 'direct', 'X-Forwarded-Host': forwarded }
    expect(clientOf(['10.0.0.1'], '10.0.0.1', headers).host).toBe(host)
  })
})

test.each([
  ['/_api/session', 'gate.example'],
  ['http://evil.example:80/_api/session', 'evil.example'],
  ['http://other.example:8529/', 'other.example:8529'],
  ['*', 'gate.example'],
])('the host of a request for %s is %s', (url, host) => {
  expect(clientOf([], '192.0.2.7', {}, 'tcp', url).host).toBe(host)
})
