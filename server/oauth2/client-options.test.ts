import { describe, expect, test } from 'vitest'
import { CALLBACK, credentials, endpoints } from './client.testing.ts'
import { createOAuth2Client, type OAuth2ClientOptions } from './client.ts'

describe('the options', () => {
  test('are all reported together if they are missing', () => {
    expect(() => createOAuth2Client({} as OAuth2ClientOptions)).toThrow(
      expect.objectContaining({
        name: 'OAuth2Error',
        code: 'invalid-options',
        message:
          'createOAuth2Client: authEndpoint is missing; tokenEndpoint is missing; ' +
          'clientId is missing; clientSecret is missing',
      }),
    )
    expect(() => createOAuth2Client(undefined as never)).toThrow('authEndpoint is missing')
  })

  test.each([
    'id.example/token',
    '/token',
    'https:id.example/token',
    'ftp://id.example/token',
    'https://',
    ' https://id.example/token',
    'https://id.example/to\nken',
    'https://id.example/token#fragment',
    'https://user:word@id.example/token',
  ])('reject an invalid endpoint without repeating it: %j', (url) => {
    for (const name of [
      'authEndpoint',
      'tokenEndpoint',
      'refreshEndpoint',
      'activeUserEndpoint',
    ] as const) {
      const create = () => createOAuth2Client({ ...endpoints, ...credentials, [name]: url })
      expect(create).toThrow(`${name} must be a fully-qualified http(s) URL`)
      expect(create).not.toThrow('id.example')
    }
  })

  test.each([
    ['clientId', '', 'clientId must be a non-empty string'],
    ['clientSecret', 1, 'clientSecret must be a non-empty string'],
    ['activeUserEndpoint', '', 'activeUserEndpoint must be a non-empty string'],
    ['timeout', 0, 'timeout must be a whole number'],
    ['timeout', 2 ** 31, 'timeout must be a whole number'],
    ['maxBytes', 1.5, 'maxBytes must be a whole number'],
    ['tokenEndpointAuthMethod', 'none', 'tokenEndpointAuthMethod must be'],
  ])('reject %s %j', (name, value, message) => {
    const options = { ...endpoints, ...credentials, [name]: value }
    expect(() => createOAuth2Client(options as OAuth2ClientOptions)).toThrow(message)
  })

  test('are read once', () => {
    const options = { ...endpoints, ...credentials }
    const client = createOAuth2Client(options)
    options.authEndpoint = 'https://elsewhere.example/'
    expect(client.getAuthUrl(CALLBACK)).toMatch(/^https:\/\/id\.example\//)
    expect(Object.isFrozen(client)).toBe(true)
  })
})
