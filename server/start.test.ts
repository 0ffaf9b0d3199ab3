import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished, test } from 'vitest'
import type { Config } from './cli/config.ts'
import type { ProviderConfig } from './oauth2/providers/provider-config.ts'
import { instanceId } from './start.ts'
import { forEachEngine } from './storage/test-support/each-engine.testing.ts'
import { startForTest } from './test-support/start.testing.ts'

/** Starts a node and returns its warnings. */
async function warningsOf(settings: Partial<Config>): Promise<string[]> {
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) })
  const node = await startForTest(settings, log)
  onTestFinished(() => node.stop())
  return warnings
}

test('a node warns if HTTPS ends at a proxy that it does not trust', async () => {
  const publicOrigin = 'https://gatehouse.example.org'
  expect(await warningsOf({ publicOrigin })).toEqual([
    expect.stringContaining('Set GATEHOUSE_TRUSTED_PROXIES'),
  ])
  expect(await warningsOf({ publicOrigin, trustedProxies: ['127.0.0.1'] })).toEqual([])
  expect(await warningsOf({ publicOrigin: 'http://gatehouse.example.org' })).toEqual([])
  expect(await warningsOf({})).toEqual([])
})

test('a node with a certificate may serve HTTPS itself', async () => {
  const testdata = join(import.meta.dirname, 'endpoints', 'registry', 'testdata')
  const tls = { cert: join(testdata, 'renewed.cert.pem'), key: join(testdata, 'renewed.key.pem') }
  expect(await warningsOf({ publicOrigin: 'https://gatehouse.example.org', tls })).toEqual([])
})

test('a node warns about admins of a provider that is not configured', async () => {
  const google: ProviderConfig = {
    kind: 'issuer',
    name: 'google',
    label: 'Google',
    form: 'exact',
    clientId: 'id',
    clientSecret: 'secret',
    issuer: 'https://accounts.google.com',
  }
  const settings = { publicOrigin: 'http://gatehouse.example.org', providers: [google] }
  const [warning = '', ...others] = await warningsOf({
    ...settings,
    admins: ['github:1', 'google:2'],
  })
  expect(JSON.parse(warning)).toMatchObject({
    msg: expect.stringContaining('GATEHOUSE_ADMINS'),
    admins: ['github:1'],
  })
  expect(others).toEqual([])
  expect(await warningsOf({ ...settings, admins: ['google:2'] })).toEqual([])
})

test('a connection to a distant host with several addresses is not aborted after 250 ms', async () => {
  await warningsOf({})
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(2_000)
})

forEachEngine((engine) => {
  it('is created once by concurrent callers', async () => {
    const store = await engine.open()
    const ids = await Promise.all([instanceId(store), instanceId(store), instanceId(store)])
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}$/)
  })
})
