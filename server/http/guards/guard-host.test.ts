import { Hono } from 'hono'
import { expect, it } from 'vitest'
import type { AppEnv, RequestView } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import { createClientOf } from './client-address.ts'
import { guardHost, requireOwnHost } from './guard-host.ts'
import { guardForm } from './guard-origin.ts'

it.each([
  ['gate.example', 'upstream', 200],
  ['evil.example', 'upstream', 421],
  ['evil.example', '127.0.0.1', 421],
])('the host is %s if a trusted proxy forwards it to %s: %i', async (forwarded, host, status) => {
  const app = new Hono<AppEnv>()
    .use(guardHost((name) => name === 'gate.example', createClientOf(['10.0.0.1']), undefined))
    .get('/', (c) => c.text('ours'))
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const headers = { Host: host, 'X-Forwarded-Host': forwarded }
  const incoming = { socket: { remoteAddress: '10.0.0.1' }, headers: { host } }
  const listener = { address: { scheme: 'tcp' } }
  const bindings = { incoming, listener } as unknown as AppEnv['Bindings']
  expect((await app.request('/', { headers }, bindings)).status).toBe(status)
})

it.each([
  [undefined, 'or set the host name with --public-url.'],
  ['https://gate.example', 'It expects gate.example, the host of --public-url.'],
])('a message with the public URL %s names the host and what to do', (publicOrigin, says) => {
  const check = () => requireOwnHost('upstream:8529', () => false, publicOrigin)
  expect(check).toThrow(`The host upstream:8529 does not belong to this server.`)
  expect(check).toThrow(says)
  if (publicOrigin !== undefined) expect(check).toThrow('"proxy_set_header Host $host;"')
})

it('a form whose host a proxy has replaced is rejected with the origin, the host and what to do', () => {
  const req = {
    method: 'POST',
    header: (name: string) => (name === 'Origin' ? 'https://gate.example' : undefined),
  }
  const check = () => guardForm({ req } as RequestView, '127.0.0.1:8529', undefined)
  expect(check).toThrow('origin https://gate.example, and the request has the host 127.0.0.1:8529')
  expect(check).toThrow('"proxy_set_header Host $host;"')
})
