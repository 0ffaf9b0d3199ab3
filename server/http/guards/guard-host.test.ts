import { Hono } from 'hono'
import { expect, it } from 'vitest'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from '../output/render-failure.ts'
import { createClientOf } from './client-address.ts'
import { guardHost } from './guard-host.ts'

it.each([
  ['gate.example', 'upstream', 200],
  ['evil.example', 'upstream', 421],
  ['evil.example', '127.0.0.1', 421],
])('the host is %s if a trusted proxy forwards it to %s: %i', async (forwarded, host, status) => {
  const app = new Hono<AppEnv>()
    .use(guardHost((name) => name === 'gate.example', createClientOf(['10.0.0.1'])))
    .get('/', (c) => c.text('ours'))
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const headers = { Host: host, 'X-Forwarded-Host': forwarded }
  const incoming = { socket: { remoteAddress: '10.0.0.1' }, headers: { host } }
  const listener = { address: { scheme: 'tcp' } }
  const bindings = { incoming, listener } as unknown as AppEnv['Bindings']
  expect((await app.request('/', { headers }, bindings)).status).toBe(status)
})
