import { expect, test } from 'vitest'
import type { ProviderSetup } from '../../../server/contract/access/provider.ts'
import {
  callbackFor,
  needsSecret,
  providerDraft,
  suggestName,
  toProviderInput,
} from './provider-draft.ts'

const corp: ProviderSetup = {
  ...{ name: 'corp', label: 'Corp', form: 'exact', source: 'managed', revision: 3 },
  callback: 'https://gate.example/_oauth2/corp/auth',
  settings: { kind: 'oidc', label: 'Corp', clientId: 'a', issuer: 'https://login.example' },
}

test('the callback URL of a new provider is derived from an existing one', () => {
  expect(callbackFor('github', [corp])).toBe('https://gate.example/_oauth2/github/auth')
  expect(callbackFor('github', [{ ...corp, callback: null }])).toBeUndefined()
})

test('a new provider gets a name that is free', () => {
  expect(suggestName('github', ['corp'])).toBe('github')
  expect(suggestName('github', ['github', 'github-2'])).toBe('github-3')
})

test('an edit sends the fields of its kind, and keeps the secret if the issuer stays', () => {
  const draft = providerDraft(corp)
  expect(toProviderInput(draft)).toEqual(corp.settings)
  expect(needsSecret(draft, corp)).toBe(false)
  expect(needsSecret({ ...draft, issuer: 'https://other.example' }, corp)).toBe(true)
})
