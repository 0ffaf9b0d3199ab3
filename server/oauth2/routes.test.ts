import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { describe, expect, test } from 'vitest'
import { providerSetupList } from '../contract/access/provider.ts'
import { providerList } from '../contract/access/session.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { createClientOf } from '../http/guards/client-address.ts'
import { renderFailure, toFailure } from '../http/output/render-failure.ts'
import { type ProviderRoutesDeps, providerRoutes } from './provider-routes.ts'
import { createProvider } from './providers/managed-providers.ts'
import { createCsrfToken } from './routes.ts'
import { plainConfig } from './sign-in/sign-in.testing.ts'

const harness = (publicOrigin?: string) => {
  const requireRole = (needed: string) =>
    createMiddleware<AppEnv>(async (c, next) => {
      const isSignedIn = c.req.header('Authorization') !== undefined
      if (needed !== 'public' && !isSignedIn) throw new Failure('unauthenticated', 'no')
      await next()
    })
  const configs = [
    plainConfig('https://a.example', { name: 'github', label: 'GitHub', form: 'exact' }),
    plainConfig('https://b.example'),
  ]
  const providers = configs.map((config) => ({
    provider: createProvider(config, { now: Date.now }),
    ...{ source: 'environment', revision: 0 },
  }))
  const deps = { providers: { list: () => providers }, clientOf: createClientOf([]), publicOrigin }
  const app = new Hono<AppEnv>().route(
    '/_api/provider',
    providerRoutes({ ...deps, requireRole } as unknown as ProviderRoutesDeps),
  )
  app.onError((error, c) => renderFailure(toFailure(error), c))
  return async (path: string, headers: Record<string, string> = {}) => {
    const listener = { address: { scheme: 'tcp' } } as AppEnv['Bindings']['listener']
    const response = await app.request(
      path,
      { headers: { Host: 'localhost:8529', ...headers } },
      { listener },
    )
    return { status: response.status, json: await response.json() }
  }
}

describe('GET /_api/provider', () => {
  test('lists the providers in the order of the buttons, for all callers', async () => {
    const { status, json } = await harness()('/_api/provider')
    expect(status).toBe(200)
    expect(providerList.parse(json)).toEqual([
      { name: 'github', label: 'GitHub', start: '/_oauth2/github/auth' },
      { name: 'oauth2', label: 'Example', start: '/_oauth2/oauth2/auth' },
    ])
    expect(JSON.stringify(json)).not.toMatch(/app-id|canary/)
  })
})

describe('GET /_api/provider/setup', () => {
  test('requires its permission', async () => {
    expect((await harness()('/_api/provider/setup')).status).toBe(401)
  })

  test.each([
    [undefined, 'localhost:8529', 'http://localhost:8529/_oauth2/github/auth'],
    [undefined, '192.0.2.1', null],
    ['https://gate.example', '192.0.2.1', 'https://gate.example/_oauth2/github/auth'],
  ])('names the callback to register: public URL %s, Host %s', async (origin, Host, callback) => {
    const { json } = await harness(origin)('/_api/provider/setup', { Host, Authorization: 'x' })
    expect(providerSetupList.parse(json)[0]).toEqual({
      name: 'github',
      label: 'GitHub',
      form: 'exact',
      callback,
      source: 'environment',
      revision: 0,
    })
    expect(JSON.stringify(json)).not.toMatch(/app-id|canary/)
  })
})

test('a token has 32 uniformly distributed alphanumerics', () => {
  const counts = new Map<string, number>()
  for (let made = 0; made < 6_200; made++) {
    const token = createCsrfToken()
    expect(token).toMatch(/^[A-Za-z0-9]{32}$/)
    for (const sign of token) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  }
  expect(counts.size).toBe(62)
  // Expected count: 3,200 each. A byte modulo 62 would give eight of the characters 3,875. A
  // correct implementation fails in one of 10^15 runs.
  for (const count of counts.values()) expect(Math.abs(count - 3_200)).toBeLessThan(450)
})
