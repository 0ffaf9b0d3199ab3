import { expect, test } from 'vitest'
import { createOAuth2Client } from '../client.ts'
import { presets } from './provider-config.ts'

const credentials = { clientId: 'an-application', clientSecret: 'its-secret' }

test.each([
  ['github', { scope: 'user' }],
  ['google', { access_type: 'offline', scope: 'profile' }],
  ['facebook', {}],
] as const)('the preset of %s requests %j', (name, parameters) => {
  const client = createOAuth2Client({ ...presets[name], ...credentials })
  const { searchParams } = new URL(client.getAuthUrl('https://app.example/callback'))
  expect(Object.fromEntries(searchParams)).toEqual({
    ...parameters,
    client_id: 'an-application',
    redirect_uri: 'https://app.example/callback',
    response_type: 'code',
  })
})

test('every endpoint of every preset uses https', () => {
  const urls = Object.values(presets).flatMap(({ label: _, ...endpoints }) =>
    Object.values(endpoints),
  )
  expect(urls).toHaveLength(9)
  for (const url of urls) expect(new URL(url).protocol).toBe('https:')
})
