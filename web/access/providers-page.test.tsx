import { expect, test } from 'vitest'
import { callbackFor, settingsOf, unconfiguredProviders } from './providers-page.tsx'

const local = {
  name: 'local',
  label: 'Operator key',
  form: 'exact' as const,
  callback: 'https://gate.example/_oauth2/local/auth',
  source: 'built-in' as const,
  revision: 0,
}

test('the callback URL of a new provider is derived from an existing one', () => {
  expect(callbackFor('github', [local])).toBe('https://gate.example/_oauth2/github/auth')
  expect(callbackFor('github', [{ ...local, callback: null }])).toBeUndefined()
})

test('each provider that is not configured lists its settings', () => {
  const left = unconfiguredProviders([local, { ...local, name: 'github' }])
  expect(left.map(({ name }) => name)).toEqual(['google', 'facebook', 'oidc', 'oauth2'])
  expect(left.slice(0, 1).map(settingsOf)).toEqual([
    'GATEHOUSE_GOOGLE_CLIENT_ID=…\nGATEHOUSE_GOOGLE_CLIENT_SECRET=…',
  ])
})
