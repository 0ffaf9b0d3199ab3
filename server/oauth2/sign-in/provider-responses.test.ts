import { describe, expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { PlainProvider } from '../providers/plain-provider.testing.ts'
import { openSignIn } from './sign-in.testing.ts'

forEngine('sqlite', (engine) => {
  describe('responses of providers', () => {
    const complete = async (token: PlainProvider['token'], user?: PlainProvider['user']) => {
      const { provider, harness } = await openSignIn(engine, { form: 'exact' })
      provider.token = token
      if (user !== undefined) provider.user = user
      const started = await harness.start('oauth2')
      const response = await harness.callback(
        'oauth2',
        { state: started.token, code: 'c' },
        started.token,
      )
      return { answer: response, harness, text: await response.text() }
    }

    test('may be form-encoded', async () => {
      const { harness } = await complete({
        type: 'application/x-www-form-urlencoded',
        body: 'access_token=gho_1&scope=user&token_type=bearer',
      })
      expect(harness.signedIn).toMatchObject([{ subject: '583231', accessToken: 'gho_1' }])
    })

    test('may have a list of scopes, null values and no type of the token', async () => {
      const body = { access_token: 't', scope: ['user'], refresh_token: null, expires_in: null }
      expect((await complete({ body })).harness.signedIn).toMatchObject([{ accessToken: 't' }])
    })

    test.each<[string, PlainProvider['token'], PlainProvider['user'] | undefined, RegExp]>([
      ['no token', { body: {} }, undefined, /status 200 from \S+\/token\).*access_token/],
      ['an error page', { status: 404, body: '' }, undefined, /status 404 from \S+\/token\)/],
      ['no id', { body: { access_token: 't' } }, { body: {} }, /no valid id from \S+\/user\./],
    ])('%s: the page and the log name field, status and URL', async (_, token, user, says) => {
      const { harness, text } = await complete(token, user)
      expect(text).toMatch(says)
      expect(harness.lines.join()).toMatch(says)
    })

    test('may describe an error, and the page shows the first 200 characters of it', async () => {
      const error_description = `<b>${'d'.repeat(300)}`
      const body = { error: 'invalid_grant', error_description }
      const { text } = await complete({ status: 400, body })
      expect(text).toContain(`(invalid_grant: &lt;b&gt;${'d'.repeat(197)})`)
    })

    test.each([
      ['csrf-in-url', { error: 'invalid_grant' }],
      ['exact', { error: 'invalid_request', error_description: 'Redirect URI mismatch' }],
    ] as const)(
      'that reject the redirect URI of the form %s name the setting and the URI',
      async (form, body) => {
        const { provider, harness } = await openSignIn(engine, { form })
        provider.token = { status: 400, body }
        const { token } = await harness.start('oauth2')
        const query = { csrfToken: token, state: token, code: 'c' }
        const response = await harness.callback('oauth2', query, token)
        const text = await response.text()
        expect(response.status).toBe(400)
        expect(text).toContain(`GATEHOUSE_OAUTH2_CALLBACK (${form})`)
        expect(text).toContain('http://localhost:8529/_oauth2/oauth2/auth')
        const atCallback = await harness.callback('oauth2', { error: 'redirect_uri_mismatch' })
        expect(await atCallback.text()).toContain('GATEHOUSE_OAUTH2_CALLBACK')
      },
    )

    test('may report an error with status 200, which becomes 400', async () => {
      const { answer, harness, text } = await complete({ body: { error: 'bad_verification_code' } })
      expect(answer.status).toBe(400)
      expect(text).toContain('bad_verification_code')
      expect(harness.signedIn).toEqual([])
    })

    test.each([
      [
        'a rejected client registration',
        { status: 401, body: { error: 'invalid_client' } },
        'client id',
      ],
      ['an HTML page', { type: 'text/html', body: '<b>busy</b>' }, 'returned an invalid response'],
      ['status 502', { status: 502, body: '' }, 'returned an invalid response'],
      ['no token', { body: { token_type: 'bearer' } }, 'returned an invalid response'],
    ])('%s: 503 with a readable page', async (_, token, says) => {
      const { answer, harness, text } = await complete(token)
      expect(answer.status).toBe(503)
      expect(text).toContain(says)
      expect(harness.signedIn).toEqual([])
    })

    test('may be missing: 503', async () => {
      const { provider, harness } = await openSignIn(engine)
      const { token } = await harness.start('oauth2')
      provider.close()
      expect(
        (await harness.callback('oauth2', { csrfToken: token, code: 'c' }, token)).status,
      ).toBe(503)
    })

    test.each([
      ['empty', ''],
      ['too long', 'a'.repeat(256)],
      ['with a control character', 'a\u0007'],
      ['with a lone surrogate', 'a\ud800'],
      ['beyond ASCII', 'é'],
      ['missing', undefined],
    ])('an id that is %s is rejected', async (_, id) => {
      const user = { body: { id, sub: id } }
      const { answer, harness } = await complete({ body: { access_token: 't' } }, user)
      expect(answer.status).toBe(503)
      expect(harness.signedIn).toEqual([])
    })

    test('appear in pages and in the log without secrets', async () => {
      const { answer, harness, text } = await complete({
        status: 400,
        body: { error: 'invalid_grant', error_description: 'canary-secret app-id' },
      })
      expect(answer.status).toBe(400)
      for (const said of [text, harness.lines.join()]) {
        expect(said).not.toContain('canary-secret')
      }
      expect(harness.lines.join()).toContain('invalid_grant')
    })
  })

  test('a response by form_post gets 400, which names the response mode', async () => {
    const { harness } = await openSignIn(engine)
    const { token } = await harness.start('oauth2')
    const headers = {
      Origin: 'https://provider.example',
      'Sec-Fetch-Site': 'cross-site',
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    const body = `code=c&state=${token}`
    const response = await harness.request('POST', '/_oauth2/oauth2/auth', headers, body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('response_mode=form_post')
  })

  describe('the page of a sign-in that failed', () => {
    test('escapes the text of the provider and truncates it to 64 characters', async () => {
      const { harness } = await openSignIn(engine)
      const response = await harness.callback('oauth2', {
        error: `<script>alert(1)</script>\r\n\u202e${'a'.repeat(100)}`,
      })
      const page = await response.text()
      expect(page).not.toContain('<script')
      expect(page).toContain('&lt;script&gt;')
      expect(page).not.toMatch(/[\u202e\r]/)
      expect(page).not.toContain('a'.repeat(65))
    })

    test('explains what happened and what to do, with a button to start over', async () => {
      const { harness } = await openSignIn(engine)
      const response = await harness.callback('oauth2', {})
      const page = await response.text()
      expect(response.headers.get('Content-Type')).toContain('text/html')
      expect(page).toContain('CSRF mismatch')
      expect(page).toContain('<form method="post" action="/_oauth2/oauth2/auth"><button>Sign in')
      expect(page).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=/)
    })

    test('runs no script, and its form may redirect to other hosts', async () => {
      const { harness } = await openSignIn(engine)
      const { headers } = await harness.callback('oauth2', {})
      expect(headers.get('Content-Security-Policy')).toBe(
        "default-src 'none'; style-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    })
  })
})
