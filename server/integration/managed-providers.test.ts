import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ProviderTest } from '../contract/access/provider.ts'
import { startPlainProvider } from '../oauth2/providers/plain-provider.testing.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { openApp } from '../test-support/app.testing.ts'

const system = { name: 'test', by: 'system', address: null } as const
const fromPage = { Origin: 'http://localhost:8529', 'X-Gatehouse': '1' }
const SECRET = 'canary-client-secret'

forEachEngine((engine) => {
  let close = async () => {}
  afterEach(() => close())

  /** Opens the application, with a provider on loopback that signs in `583231`. */
  async function open() {
    const app = await openApp(engine.location())
    close = app.close
    const remote = await startPlainProvider()
    onTestFinished(() => remote.close())
    const input = {
      ...{ kind: 'oauth2', label: 'Example', clientId: 'app', callback: 'exact' },
      authEndpoint: `${remote.origin}/authorize`,
      tokenEndpoint: `${remote.origin}/token`,
      activeUserEndpoint: `${remote.origin}/user`,
    }
    const send = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const response = await app.request(`/_api/${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      expect(text).not.toContain(SECRET)
      return { status: response.status, json: JSON.parse(text), headers: response.headers }
    }
    const add = () => send('POST', 'provider', { name: 'corp', ...input, clientSecret: SECRET })
    /** Follows a start of a sign-in through the provider. Returns the response of the callback. */
    const callback = async (start: Response, query: Record<string, string> = { code: 'c' }) => {
      expect(start.status).toBe(303)
      const state = new URL(start.headers.get('Location') ?? '').searchParams.get('state') ?? ''
      const Cookie = start.headers
        .getSetCookie()
        .map((each) => each.split(';')[0])
        .join('; ')
      return app.request(`/_oauth2/corp/auth?${new URLSearchParams({ ...query, state })}`, {
        headers: { Cookie },
      })
    }
    const signIn = async (fields: Record<string, string> = {}) =>
      app.request('/_oauth2/corp/auth', {
        method: 'POST',
        headers: { ...fromPage, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `${new URLSearchParams(fields)}`,
      })
    const page = (token: string, headers: Record<string, string> = { Cookie: 'a=b' }) =>
      app.request(`/_oauth2/invitation?token=${token}`, { headers })
    const tokenOf = (url: string) => new URL(url).searchParams.get('token') ?? ''
    const people = async () =>
      Object.fromEntries(
        (await app.access.people()).map(({ username, role, databases }) => [
          username,
          [role, databases],
        ]),
      )
    return { ...app, remote, input, send, add, callback, signIn, page, tokenOf, people }
  }

  describe('a managed provider', () => {
    it('signs people in, until it is removed, and its secret is stored encrypted', async () => {
      const { send, add, input, signIn, callback, store, remote, request } = await open()
      const added = await add()
      expect(added).toMatchObject({
        status: 201,
        json: {
          ...{ name: 'corp', form: 'exact', source: 'managed' },
          callback: 'https://gate.example.org/_oauth2/corp/auth',
          settings: input,
        },
      })
      expect((await callback(await signIn())).status).toBe(303)
      expect(remote.requests[0]?.form.get('client_secret')).toBe(SECRET)
      expect((await (await request('/_api/provider')).text()).includes('corp')).toBe(true)
      const [row] = await store.db.selectFrom('providers').selectAll().execute()
      expect(JSON.stringify(row)).not.toContain(SECRET)
      const audit = await store.db.selectFrom('audit').selectAll().execute()
      expect(JSON.stringify(audit)).not.toContain(SECRET)
      expect(audit.map(({ action }) => action)).toContain('provider.add')
      expect((await send('DELETE', 'provider/corp')).status).toBe(200)
      expect((await signIn()).status).toBe(404)
    })

    it('is changed only with its current revision, by admins without a limit', async () => {
      const { send, add, input, access } = await open()
      const { json } = await add()
      const change = { ...input, label: 'Other' }
      const put = (headers: Record<string, string> = {}, body: unknown = change) =>
        send('PUT', 'provider/corp', body, headers)
      expect((await put({ 'If-Match': '"0"' })).status).toBe(412)
      const changed = await put({ 'If-Match': `"${json.revision}"` })
      expect(changed).toMatchObject({ status: 200, json: { label: 'Other' } })
      expect(changed.headers.get('ETag')).toBe(`"${changed.json.revision}"`)
      expect((await send('PUT', 'provider/none', change)).status).toBe(404)
      expect(
        (await send('POST', 'provider', { name: 'corp', ...input, clientSecret: 'x' })).status,
      ).toBe(409)
      expect((await send('DELETE', 'provider/local')).status).toBe(409)
      const [operator] = await access.people()
      const limited = await access.createToken(
        { personId: operator?.id ?? '', role: 'admin' },
        { name: 'a', role: 'admin', databases: ['_system', 'blog'] },
        system,
      )
      const by = { Authorization: `Bearer ${limited.token}` }
      expect((await put(by)).status).toBe(403)
      expect((await send('DELETE', 'provider/corp', undefined, by)).status).toBe(403)
      const invitation = { provider: 'corp', role: 'admin' }
      expect((await send('POST', 'invitation', invitation, by)).status).toBe(403)
    })

    it.each(['authEndpoint', 'tokenEndpoint', 'activeUserEndpoint'])(
      'needs its secret again if %s changes, so that it is not sent elsewhere',
      async (field) => {
        const { send, add, input } = await open()
        await add()
        const other = { ...input, [field]: 'https://thief.example/' }
        const kept = await send('PUT', 'provider/corp', other)
        expect(kept).toMatchObject({ status: 400, json: { field: '/clientSecret' } })
        const entered = await send('PUT', 'provider/corp', { ...other, clientSecret: 'new' })
        expect(entered.status).toBe(200)
      },
    )

    it('that was replaced during a sign-in does not get its code', async () => {
      const { send, add, input, signIn, callback, remote } = await open()
      await add()
      const started = await signIn()
      await send('PUT', 'provider/corp', { ...input, label: 'Other' })
      expect((await callback(started)).status).toBe(400)
      expect(remote.requests).toEqual([])
    })

    it.each([
      ['http://other.example/', 'tokenEndpoint'],
      ['https://a:b@other.example/', 'authEndpoint'],
      ['file:///etc/passwd', 'activeUserEndpoint'],
    ])('cannot have the URL %s', async (url, field) => {
      const { send, input } = await open()
      const body = { name: 'corp', ...input, clientSecret: 'x', [field]: url }
      expect(await send('POST', 'provider', body)).toMatchObject({
        status: 400,
        json: { field: `/${field}` },
      })
    })
  })

  describe('a test of a provider', () => {
    it('records its steps, and makes neither a person nor a session', async () => {
      const { send, add, request, callback, people, store, remote } = await open()
      await add()
      const { status, json } = await send('POST', 'provider/corp/test')
      expect(status).toBe(201)
      const read = async () =>
        (await send('GET', `provider/corp/test/${json.id}`)).json as ProviderTest
      expect(await read()).toMatchObject({ state: 'waiting', steps: [] })
      // A link preview opens nothing.
      await request(json.url, { method: 'HEAD' })
      const started = await request(json.url)
      expect(await read()).toMatchObject({ state: 'started', steps: [{ name: 'start' }] })
      const before = await people()
      const ended = await callback(started)
      expect(await ended.text()).toContain('You would be signed in as corp:583231 (ada).')
      expect(ended.headers.getSetCookie().join()).not.toContain('gatehouse_test')
      expect(await read()).toMatchObject({
        state: 'passed',
        steps: [
          { name: 'start', outcome: 'done' },
          { name: 'response', outcome: 'done' },
          {
            ...{ name: 'exchange', outcome: 'done' },
            requests: [
              `POST ${remote.origin}/token: accepted`,
              `GET ${remote.origin}/user: accepted`,
            ],
          },
        ],
      })
      expect(await people()).toEqual(before)
      expect(await store.db.selectFrom('sessions').select('id').execute()).toEqual([])
      expect((await request(json.url)).status).toBe(410)
      expect((await send('GET', `provider/local/test/${json.id}`)).status).toBe(404)
    })

    it.each([
      ['the provider reports an error', { error: 'access_denied' }, 'response', 'access_denied'],
      ['the code is rejected', { code: 'c' }, 'exchange', 'rejected the credentials'],
    ])('fails if %s', async (_, query, name, reason) => {
      const { send, add, request, callback, remote } = await open()
      await add()
      remote.token = { status: 401, body: { error: 'invalid_client' } }
      const { json } = await send('POST', 'provider/corp/test')
      const ended = await callback(await request(json.url), query)
      expect(await ended.text()).toContain('The test failed')
      const { state, steps } = (await send('GET', `provider/corp/test/${json.id}`)).json
      expect(state).toBe('failed')
      expect(steps.at(-1)).toMatchObject({ name, outcome: 'failed' })
      expect(steps.at(-1).detail).toContain(reason)
    })

    it('can be started 20 times a minute', async () => {
      const { send, add } = await open()
      await add()
      for (let at = 0; at < 20; at++) await send('POST', 'provider/corp/test')
      expect((await send('POST', 'provider/corp/test')).status).toBe(429)
    })
  })

  describe('an invitation', () => {
    const invite = { provider: 'corp', role: 'editor', databases: ['blog'] }

    it('gives the first person who signs in with it a role and databases, once', async () => {
      const { send, add, page, signIn, callback, people, tokenOf, remote, store } = await open()
      await add()
      const { status, json } = await send('POST', 'invitation', { ...invite, note: 'Nora' })
      expect(status).toBe(201)
      expect(json.invitation).toMatchObject({ note: 'Nora' })
      const long = { ...invite, note: 'x'.repeat(201) }
      expect((await send('POST', 'invitation', long)).status).toBe(400)
      const token = tokenOf(json.url)
      expect((await send('GET', 'invitation')).json).toEqual([json.invitation])
      const rows = await store.db.selectFrom('invitations').selectAll().execute()
      expect(JSON.stringify(rows)).not.toContain(token)
      const opened = await page(token)
      expect(opened.status).toBe(200)
      const text = await opened.text()
      expect(text).toContain('Sign in with Example')
      expect(text).not.toContain('Nora')

      // Two people start, and only the first gets it.
      const [first, second] = [
        await signIn({ invitation: token }),
        await signIn({ invitation: token }),
      ]
      expect((await callback(first)).status).toBe(303)
      remote.user = { body: { id: 2 } }
      const late = await callback(second)
      expect(late.status).toBe(410)
      expect(await late.text()).toContain('already used')
      expect(await people()).toMatchObject({ 'corp:583231': ['editor', ['blog']] })
      expect(await people()).not.toHaveProperty('corp:2')
      expect((await page(token)).status).toBe(410)
      expect((await signIn({ invitation: token })).status).toBe(410)
      expect((await send('GET', 'invitation')).json).toEqual([])
    })

    it('is not used by a person who has a role, nor by one whose access was removed', async () => {
      const { send, add, page, signIn, callback, people, tokenOf, access } = await open()
      await add()
      await callback(await signIn())
      const id =
        (await access.people()).find(({ username }) => username === 'corp:583231')?.id ?? ''
      const token = tokenOf((await send('POST', 'invitation', invite)).json.url)
      await access.changeRole(id, { role: 'viewer' }, system)
      const kept = await callback(await signIn({ invitation: token }))
      expect(kept.status).toBe(303)
      expect(await people()).toMatchObject({ 'corp:583231': ['viewer', null] })
      const Cookie = kept.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      expect(await (await page(token, { Cookie })).text()).toContain('You already have access')
      await access.changeRole(id, { role: 'none' }, system)
      expect((await callback(await signIn({ invitation: token }))).status).toBe(403)
      expect((await send('GET', 'invitation')).json).toHaveLength(1)
      // A person who waits for a role gets that of the invitation.
      await access.changeRole(id, { role: 'pending' }, system)
      expect((await callback(await signIn({ invitation: token }))).status).toBe(303)
      expect(await people()).toMatchObject({ 'corp:583231': ['editor', ['blog']] })
    })

    it('ends if it expires, is deleted, or its author is no longer an admin', async () => {
      const { send, add, page, signIn, callback, tokenOf, access, store } = await open()
      await add()
      await callback(await signIn())
      const id =
        (await access.people()).find(({ username }) => username === 'corp:583231')?.id ?? ''
      await access.changeRole(id, { role: 'admin' }, system)
      const owner = { personId: id, role: 'admin' } as const
      const { token: bearer } = await access.createToken(
        owner,
        { name: 'a', role: 'admin' },
        system,
      )
      const create = async (headers = {}) =>
        (await send('POST', 'invitation', { ...invite, note: 'Nora' }, headers)).json
      const [byAdmin, deleted, expired] = [
        await create({ Authorization: `Bearer ${bearer}` }),
        await create(),
        await create(),
      ]
      await access.changeRole(id, { role: 'viewer' }, system)
      expect((await send('DELETE', `invitation/${deleted.invitation.id}`)).status).toBe(200)
      expect((await send('GET', 'audit?limit=1')).json.rows).toMatchObject([
        { action: 'invitation.delete', before: { note: 'Nora' } },
      ])
      await store.db
        .updateTable('invitations')
        .set({ expires_at: 1_700_000_000_000 })
        .where('id', '=', expired.invitation.id)
        .execute()
      for (const { url } of [byAdmin, deleted, expired]) {
        expect((await page(tokenOf(url))).status).toBe(410)
        expect((await signIn({ invitation: tokenOf(url) })).status).toBe(410)
      }
      expect(await (await page(tokenOf(expired.url))).text()).toContain('has expired')
      expect((await send('GET', 'invitation')).json).toEqual([])
    })

    it('lasts for at most 30 days, and names a provider for people', async () => {
      const { send, add } = await open()
      await add()
      for (const change of [
        { expires: '2999-01-01' },
        { expires: '2001-01-01' },
        { provider: 'local' },
        { provider: 'none' },
        { databases: [] },
      ]) {
        const { status } = await send('POST', 'invitation', { ...invite, ...change })
        expect([change, status]).toEqual([change, 400])
      }
    })
  })
})
