import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createProvider } from './create-provider.ts'
import { startPlainProvider } from './plain-provider.testing.ts'
import { startTestProvider } from './provider.testing.ts'
import { plainConfig } from './sign-in.testing.ts'

const NOW = 1_700_000_000_000
const now = () => NOW

test('a provider known by its endpoints gives new tokens for a refresh token', async () => {
  const plain = await startPlainProvider()
  onTestFinished(() => plain.close())
  plain.token = { body: { access_token: 'new', refresh_token: 'next', expires_in: '3600' } }
  const provider = createProvider(
    plainConfig(plain.origin, { refreshEndpoint: `${plain.origin}/refresh` }),
    { now },
  )
  // Its answers below /user are those of every other path.
  plain.user = plain.token
  expect(await provider.refresh('old')).toEqual({
    access: 'new',
    refresh: 'next',
    expires: NOW + 3_600_000,
  })
  expect(plain.requests[0]?.path).toBe('/refresh')
  expect(Object.fromEntries(plain.requests[0]?.form ?? [])).toMatchObject({
    grant_type: 'refresh_token',
    refresh_token: 'old',
  })
  plain.user = { status: 400, body: { error: 'invalid_grant' } }
  await expect(provider.refresh('old')).rejects.toMatchObject({ code: 'bad-parameter' })
})

test('a provider known by its issuer gives new tokens for a refresh token, once', async () => {
  const redirectUri = 'https://gate.example/_oauth2/oidc/auth'
  const there = await startTestProvider([
    {
      client_id: 'app-id',
      client_secret: 'its secret',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ])
  onTestFinished(() => there.close())
  const provider = createProvider(
    {
      kind: 'issuer',
      name: 'oidc',
      label: 'Work',
      form: 'exact',
      issuer: there.issuer,
      clientId: 'app-id',
      clientSecret: 'its secret',
    },
    { now: Date.now },
  )
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const request = { origin: 'https://gate.example', redirectUri, state: 's', challenge, nonce: 'n' }
  const back = await there.authorize(await provider.authorize(request))
  const { tokens } = await provider.complete({
    code: back.searchParams.get('code') ?? '',
    iss: back.searchParams.get('iss') ?? undefined,
    exchangeUri: redirectUri,
    verifier,
    nonce: 'n',
  })
  const renewed = await provider.refresh(tokens.refresh ?? '')
  expect(renewed.access).not.toBe(tokens.access)
  expect(renewed.expires).toBeGreaterThan(Date.now())
  await expect(provider.refresh('foreign')).rejects.toMatchObject({ code: 'bad-parameter' })
})
