import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { actionOf } from '../http/guards/audit-change.ts'
import { AUTHORIZATION_INTERVAL } from '../http/input/body/request-body.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { openApp } from '../test-support/app.testing.ts'
import { endpointPath, startForTest } from '../test-support/start.testing.ts'

// Tests requests whose caller is revoked after the request was authorized.

const system = { name: 'test', by: 'system', address: null } as const
const from = { address: null, userAgent: null }
const fromPage = { Origin: 'http://localhost:8529', 'X-Gatehouse': '1' }

forEngine('sqlite', (engine) => {
  let close = async () => {}
  afterEach(() => close())

  /** Opens the application. The next change waits for `beforeChange`. */
  async function open() {
    const hook: { beforeChange?: (() => Promise<unknown>) | undefined } = {}
    const opened = await openApp(engine.location(), (store) => ({
      ...store,
      async change(work) {
        const { beforeChange } = hook
        hook.beforeChange = undefined
        await beforeChange?.()
        return store.change(work)
      },
    }))
    close = opened.close
    const { access } = opened
    const signIn = async (subject: string) => {
      const identity = { provider: 'github', issuer: 'a', subject, name: null }
      const secret = await access.signIn({ ...identity, accessToken: 'x', operatorKey: null }, from)
      return { ...fromPage, Cookie: `gatehouse_test=${secret}` }
    }
    /** Returns the id and the session of a new admin. */
    const admin = async (subject: string) => {
      await signIn(subject)
      const people = await access.people()
      const id = people.find(({ username }) => username === `github:${subject}`)?.id ?? ''
      await access.changeRole(id, { role: 'admin' }, system)
      return { id, session: await signIn(subject) }
    }
    const roles = async () =>
      new Map((await access.people()).map(({ username, role }) => [username, role]))
    return { ...opened, hook, signIn, admin, roles }
  }

  it('an admin whose access is removed while the body arrives does not become an admin again', async () => {
    const { access, request, admin, roles } = await open()
    await admin('1')
    const { id, session } = await admin('2')
    const body = new ReadableStream(
      {
        // Called once the server reads the body, after it has authorized the request.
        async pull(controller) {
          await access.changeRole(id, { role: 'none' }, system)
          controller.enqueue(new TextEncoder().encode('{"role":"admin"}'))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { ...session, 'Content-Type': 'application/json' }
    const init = { method: 'PATCH', headers, body, duplex: 'half' }
    expect((await request(`/_api/user/${id}`, init)).status).toBe(401)
    expect((await roles()).get('github:2')).toBe('none')
  })

  /** A body whose first part is empty; the rest is sent once `before` has resolved. */
  const slowBody = (text: string, before: () => Promise<unknown>) =>
    new ReadableStream(
      {
        async pull(controller) {
          await before()
          controller.enqueue(new TextEncoder().encode(text))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )

  it.each([
    ['PUT', '/articles/one', '{"n":2}', undefined],
    ['PATCH', '/articles/one', '{"n":2}', undefined],
    ['POST', '/articles', '{"n":2}', undefined],
    ['POST', '/articles', '[{"n":2}]', undefined],
    ['PATCH', '/articles', '{"n":2}', undefined],
    ['PUT', '/_schema/articles', '{"required":["n"]}', undefined],
    ['POST', '/articles', '{"n":2}\n', 'application/x-ndjson'],
    ['POST', '/articles', 'n\n2\n', 'text/csv'],
  ])(
    '%s %s with the body %j is rejected if access ends while the body arrives',
    async (method, path, text, type = 'application/json') => {
      const { access, request, admin, signIn } = await open()
      await admin('1')
      const { id } = await admin('2')
      await request('/articles/one', {
        method: 'PUT',
        body: '{"n":1}',
        headers: { 'If-None-Match': '*' },
      })
      const send = async (headers: Record<string, string>, before: () => Promise<unknown>) => {
        const body = slowBody(text, before)
        const init = { method, body, duplex: 'half', headers: { ...headers, 'Content-Type': type } }
        return (await request(path, init)).status
      }
      const owner = { personId: id, role: 'admin' } as const
      const { token, info } = await access.createToken(
        owner,
        { name: 'a', role: 'operator' },
        system,
      )
      const bearer = { Authorization: `Bearer ${token}` }
      expect(await send(bearer, () => access.changeRole(id, { role: 'viewer' }, system))).toBe(403)
      await access.changeRole(id, { role: 'admin' }, system)
      const limit = { role: 'admin' as const, databases: ['shop'] }
      expect(await send(bearer, () => access.changeRole(id, limit, system))).toBe(403)
      await access.changeRole(id, { role: 'admin', databases: null }, system)
      expect(await send(bearer, () => access.revokeToken(owner, info.id, system))).toBe(401)
      const session = await signIn('2')
      expect(await send(session, () => access.endSession(id, 'all', system))).toBe(401)
      expect(await (await request('/articles')).json()).toEqual([{ id: 'one', n: 1 }])
      expect((await request('/_schema/articles')).status).toBe(404)
    },
  )

  it('an import ends soon after its caller is revoked, and tells how much it has stored', async () => {
    const { access, request, admin, store } = await open()
    await admin('1')
    const { id, session } = await admin('2')
    const lines = (count: number) => Buffer.from('{"n":1}\n'.repeat(count))
    const stored = async () =>
      (await store.db.selectFrom('documents').select('id').execute()).length
    const realNow = performance.now.bind(performance)
    const now = vi.spyOn(performance, 'now')
    const parts = [
      async () => lines(2_500),
      async () => {
        await expect.poll(stored).toBeGreaterThan(0)
        await access.endSession(id, 'all', system)
        now.mockImplementation(() => realNow() + AUTHORIZATION_INTERVAL)
        return lines(1)
      },
      // The client sends no more, and does not end the body.
      () => new Promise<never>(() => {}),
    ]
    const body = new ReadableStream(
      { pull: async (controller) => controller.enqueue(await parts.shift()?.()) },
      { highWaterMark: 0 },
    )
    const headers = { ...session, 'Content-Type': 'application/x-ndjson' }
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const response = await request('/articles', init).finally(() => now.mockRestore())
    const { id: code, message } = await response.json()
    expect([response.status, code]).toEqual([401, 'auth_failed'])
    const count = (await stored()).toLocaleString('en')
    expect(message).toBe(
      `Your session has ended. Sign in again. The import has ended; ${count} documents are stored.`,
    )
  })

  it('an export ends soon after its caller is revoked', async () => {
    const { access, request, admin } = await open()
    await admin('1')
    const { id, session } = await admin('2')
    const documents = Array.from({ length: 10 }, () => ({ text: 'x'.repeat(100_000) }))
    await request('/articles', { method: 'POST', body: JSON.stringify(documents) })
    const realNow = performance.now.bind(performance)
    const now = vi.spyOn(performance, 'now')
    onTestFinished(() => now.mockRestore())
    const response = await request('/articles?export-as=ndjson', { headers: session })
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
    await access.endSession(id, 'all', system)
    now.mockImplementation(() => realNow() + AUTHORIZATION_INTERVAL)
    // The store can only be closed after the export.
    await expect(reader?.read())
      .rejects.toMatchObject({ code: 'unauthenticated' })
      .finally(() => reader?.cancel().catch(() => {}))
  })

  it('an import of a database defines nothing after its caller is revoked', async () => {
    const { access, request, admin, hook } = await open()
    await admin('1')
    const { id, session } = await admin('2')
    const body = [
      { gatehouse: 1, database: 'x' },
      { collection: 'c', schema: true, indexes: [{ name: 'by-n', fields: ['n'], unique: false }] },
      { document: { id: 'one' } },
      { end: { collections: 1, documents: 1 } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
    const headers = { ...session, 'Content-Type': 'application/x-ndjson' }
    hook.beforeChange = () => access.endSession(id, 'all', system)
    const response = await request('/_import', { method: 'POST', headers, body })
    expect(response.status).toBe(401)
    expect((await response.json()).message).toBe(
      'Your session has ended. Sign in again. The import has ended; 1 document is stored.',
    )
    expect((await request('/_schema/c')).status).toBe(404)
    expect(await (await request('/_index/c')).json()).toEqual([])
  })

  it('every audited change authorizes its caller again in its transaction', async () => {
    const { app, access, request, hook, admin, signIn, store } = await open()
    await admin('1')
    const { id } = await admin('2')
    const [free, used, changed] = (await freePorts(3)).map((port) => `tcp://127.0.0.1:${port}`)
    const createToken = () =>
      access.createToken({ personId: id, role: 'admin' }, { name: 'a', role: 'admin' }, system)
    const { info: unrelated } = await createToken()
    const send = (route: string, path: string, body: unknown, headers: Record<string, string>) =>
      request(path, {
        method: route.split(' ')[0] ?? '',
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    await send('POST', '/_api/endpoint', { endpoint: used, databases: ['blog'] }, {})
    await send('PUT', '/_index/articles/by-year', { fields: ['year'] }, {})
    await send('PUT', '/_schema/articles', true, {})
    await send('PUT', '/_api/certificate/used', { kind: 'local', names: ['a.test'] }, {})
    await send('PUT', '/_feed/articles', {}, {})
    const webhookInput = {
      ...{ name: 'hook', url: 'https://example.org', database: '_system' },
      collections: ['articles'],
    }
    await send('POST', '/_api/webhook', webhookInput, {})
    const delivery = { webhook: '', at: 0, epoch: '', after: 0, upto: 0, attempts: 1 }
    const { id: webhook } = await store.db
      .selectFrom('webhooks')
      .select('id')
      .executeTakeFirstOrThrow()
    await store.db
      .insertInto('webhook_deliveries')
      .values({ ...delivery, id: 'one', webhook, request: '{}', outcome: '{}' })
      .execute()
    const settings = { kind: 'github', clientId: 'a', clientSecret: 'b' }
    await send('POST', '/_api/provider', { name: 'corp', ...settings }, {})
    const invite = { provider: 'corp', role: 'viewer' }
    const invited = await send('POST', '/_api/invitation', invite, {})
    const { invitation } = await invited.json()
    const bulk = { changes: [{ endpoint: changed, databases: ['blog'] }] }
    const begun = await send('POST', '/_api/endpoint-change', bulk, {})
    await begun.text()
    const madeChange = `/_api/endpoint-change/${begun.headers.get('Gatehouse-Change')}`

    const changes: Record<string, readonly [path: string, body?: unknown]> = {
      'POST /_api/endpoint': ['/_api/endpoint', { endpoint: free, databases: ['blog'] }],
      'DELETE /_api/endpoint': [`/_api/endpoint?endpoint=${used}`],
      'DELETE /_api/endpoint/:address': [endpointPath(used ?? '')],
      'POST /_api/endpoint-change': [
        '/_api/endpoint-change',
        { changes: [{ endpoint: free, databases: ['blog'] }] },
      ],
      'POST /_api/endpoint-change/:id/undo': [`${madeChange}/undo`],
      'POST /_api/certificate': [
        '/_api/certificate',
        { name: 'a', kind: 'local', names: ['a.test'] },
      ],
      'PUT /_api/certificate/:name': [
        '/_api/certificate/used',
        { kind: 'local', names: ['a.test'] },
      ],
      'DELETE /_api/certificate/:name': ['/_api/certificate/used'],
      'PUT /_api/policy': [`/_api/policy?endpoint=${used}`, { readOnly: true }],
      'DELETE /_api/policy': [`/_api/policy?endpoint=${used}`],
      'POST /_api/policy-trial/:id/confirm': ['/_api/policy-trial/x/confirm'],
      'POST /_api/database': ['/_api/database', { name: 'new' }],
      'DELETE /_api/database/:name': ['/_api/database/blog'],
      'DELETE /_api/session': ['/_api/session'],
      'PATCH /_api/user/:id': [`/_api/user/${id}`, { role: 'operator' }],
      'DELETE /_api/user/:id/session/:session': ['/_api/user/me/session/all'],
      'POST /_api/provider': ['/_api/provider', { name: 'new', ...settings }],
      'PUT /_api/provider/:name': ['/_api/provider/corp', settings],
      'DELETE /_api/provider/:name': ['/_api/provider/corp'],
      'POST /_api/provider/:name/test': ['/_api/provider/corp/test'],
      'POST /_api/invitation': ['/_api/invitation', invite],
      'DELETE /_api/invitation/:id': [`/_api/invitation/${invitation.id}`],
      'POST /_api/token': ['/_api/token', { name: 'b', role: 'viewer' }],
      'DELETE /_api/token/:id': [`/_api/token/${unrelated.id}`],
      'POST /_api/webhook': ['/_api/webhook', { ...webhookInput, name: 'new' }],
      'PATCH /_api/webhook/:name': ['/_api/webhook/hook', { filter: 'n=1' }],
      'DELETE /_api/webhook/:name': ['/_api/webhook/hook'],
      'POST /_api/webhook/:name/test': ['/_api/webhook/hook/test'],
      'POST /_api/webhook/:name/pause': ['/_api/webhook/hook/pause'],
      'POST /_api/webhook/:name/resume': ['/_api/webhook/hook/resume'],
      'POST /_api/webhook/:name/secret': ['/_api/webhook/hook/secret'],
      'POST /_api/webhook/:name/delivery/:id/retry': ['/_api/webhook/hook/delivery/one/retry'],
      'PUT /_index/:collection/:name': ['/_index/articles/by-name', { fields: ['name'] }],
      'DELETE /_index/:collection/:name': ['/_index/articles/by-year'],
      'PUT /_feed/:collection': ['/_feed/new', {}],
      'DELETE /_feed/:collection': ['/_feed/articles'],
      'PUT /_schema/:collection': ['/_schema/new', { type: 'object' }],
      'DELETE /_schema/:collection': ['/_schema/articles'],
    }
    const audited = app.routes.flatMap(({ method, path, handler }) =>
      actionOf(handler) === undefined ? [] : `${method} ${path.replace(/\{[^/]+?\}+/g, '')}`,
    )
    // Imports have tests of their own.
    expect(audited.sort()).toEqual([...Object.keys(changes), 'POST /_import'].sort())

    for (const [route, [path, body]] of Object.entries(changes)) {
      const session = await signIn('2')
      hook.beforeChange = () => access.endSession(id, 'all', system)
      const ended = await send(route, path, body, session)
      expect([route, ended.status]).toEqual([route, 401])
      // A token has no session to end.
      if (route === 'DELETE /_api/session') continue

      const { token, info } = await createToken()
      const bearer = { Authorization: `Bearer ${token}` }
      hook.beforeChange = () => access.changeRole(id, { role: 'viewer' }, system)
      const lowered = await send(route, path, body, bearer)
      expect([route, lowered.status]).toEqual([route, 403])
      await access.changeRole(id, { role: 'admin' }, system)
      const limit = { role: 'admin' as const, databases: ['shop'] }
      hook.beforeChange = () => access.changeRole(id, limit, system)
      const limited = await send(route, path, body, bearer)
      expect([route, limited.status]).toEqual([route, 403])
      await access.changeRole(id, { role: 'admin', databases: null }, system)
      hook.beforeChange = () => access.revokeToken({ personId: id, role: 'admin' }, info.id, system)
      const revoked = await send(route, path, body, bearer)
      expect([route, revoked.status]).toEqual([route, 401])
    }
    const { token } = await createToken()
    hook.beforeChange = () => store.db.updateTable('tokens').set({ expires_at: 1 }).execute()
    const bearer = { Authorization: `Bearer ${token}` }
    expect((await send('PUT', '/_schema/new', true, bearer)).status).toBe(401)
    const made = await store.db
      .selectFrom('audit')
      .select('action')
      .distinct()
      .where('actor', '=', 'github:2')
      .where('outcome', '=', 'done')
      .execute()
    const actions = made.map(({ action }) => action)
    expect(actions.sort()).toEqual(['person.create', 'session.begin'])
  })
})

it('a change is rejected if its token is revoked between the head and the body of the request', async () => {
  const node = await startForTest()
  try {
    const { json } = await node.request('POST', '/_api/token', { name: 'ci', role: 'operator' })
    const headers = { Authorization: `Bearer ${json.token}`, Expect: '100-continue' }
    const slow = httpRequest({ port: node.port, method: 'POST', path: '/articles', headers })
    slow.flushHeaders()
    // The server sends this as soon as it has the head.
    await once(slow, 'continue')
    await node.request('DELETE', `/_api/token/${json.info.id}`)
    slow.end('{"id":"one"}')
    const [response] = await once(slow, 'response')
    response.resume()
    expect(response.statusCode).toBe(401)
    expect((await node.request('GET', '/articles')).json).toEqual([])
  } finally {
    await node.stop()
  }
})
