import { describe, expect, test } from 'vitest'
import { hashSecret } from '../../secret.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openSignIn, tokenRequests } from './sign-in.testing.ts'

forEngine('sqlite', (engine) => {
  describe('on an encrypted connection', () => {
    const secure = async () => {
      const { harness, provider } = await openSignIn(
        engine,
        {},
        { publicOrigin: 'https://gate.example' },
      )
      const started = await harness.start('oauth2', { Host: 'gate.example' })
      const query = { csrfToken: started.token, code: 'c' }
      const back = async (cookie: string) =>
        (await harness.callback('oauth2', query, cookie)).status
      return { harness, provider, ...started, back }
    }

    test('the token is also in a cookie with the prefix __Host-', async () => {
      const { answer, token } = await secure()
      expect(answer.headers.getSetCookie()).toContainEqual(
        `__Host-oauth2_csrf_token_oauth2=${token}; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax`,
      )
    })

    test('a sign-in in another tab requires the cookie with the prefix __Host-', async () => {
      const { harness, token, provider } = await secure()
      const headers = {
        Host: 'gate.example',
        Cookie: `oauth2_csrf_token=${token}; __Host-oauth2_csrf_token_oauth2=${token}`,
      }
      const moved = (await harness.start('oauth2', headers)).answer.headers
        .getSetCookie()
        .find((each) => each.includes(`=${token};`))
      expect(moved).toMatch(/^__Host-oauth2_csrf_token_oauth2_[0-9a-f]{16}=.*; Secure/)
      const query = { csrfToken: token, code: 'c' }
      const cookie = moved?.split(';')[0] ?? ''
      const plain = cookie.replace('__Host-', '')
      expect((await harness.callback('oauth2', query, plain)).status).toBe(400)
      expect(tokenRequests(provider)).toEqual([])
    })

    test('a callback of another tab succeeds with that cookie', async () => {
      const { harness, token } = await secure()
      const name = `__Host-oauth2_csrf_token_oauth2_${hashSecret(token).slice(0, 16)}`
      const response = await harness.callback(
        'oauth2',
        { csrfToken: token, code: 'c' },
        `${name}=${token}; oauth2_csrf_token=other; __Host-oauth2_csrf_token_oauth2=other`,
      )
      expect(response.status).toBe(303)
      const removed = response.headers.getSetCookie().filter((each) => each.includes('Max-Age=0'))
      expect(removed.map((each) => each.split('=')[0])).toEqual([name])
    })

    test('a callback with both cookies succeeds and removes both', async () => {
      const { harness, token } = await secure()
      const cookie = `oauth2_csrf_token=${token}; __Host-oauth2_csrf_token_oauth2=${token}`
      const response = await harness.callback('oauth2', { csrfToken: token, code: 'c' }, cookie)
      expect(response.status).toBe(303)
      const removed = response.headers.getSetCookie().filter((each) => each.includes('Max-Age=0'))
      expect(removed.map((each) => each.split('=')[0]).sort()).toEqual([
        '__Host-oauth2_csrf_token_oauth2',
        'oauth2_csrf_token',
      ])
    })

    test.each([
      ['none', ''],
      ['another value', '; __Host-oauth2_csrf_token_oauth2=other'],
      ['that of another provider', '; __Host-oauth2_csrf_token_github=TOKEN'],
    ])('a callback whose second cookie is %s is rejected', async (_, second) => {
      const { token, back, provider } = await secure()
      expect(await back(`oauth2_csrf_token=${token}${second.replace('TOKEN', token)}`)).toBe(400)
      expect(tokenRequests(provider)).toEqual([])
    })
  })
})
