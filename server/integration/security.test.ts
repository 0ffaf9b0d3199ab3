import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTokenText } from '../access/secrets/secret-text.ts'
import { createRecorder } from '../audit/record.ts'
import { changeRoleByCommand } from '../cli/commands/user-role.ts'
import type { Config } from '../cli/config.ts'
import {
  type PlainProvider,
  startPlainProvider,
} from '../oauth2/providers/plain-provider.testing.ts'
import { plainConfig } from '../oauth2/sign-in/sign-in.testing.ts'
import { UNFINISHED_SIGN_INS } from '../oauth2/sign-in/sign-in-limit.ts'
import { FAILURES } from '../storage/changes/failure-limit.ts'
import { openStore, type StoreLocation } from '../storage/open.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { CONSOLE_HEADERS, operatorSession } from '../test-support/operator-session.testing.ts'
import {
  sendRequest,
  startForTest,
  type TestNode,
  type TestResponse,
} from '../test-support/start.testing.ts'

// Tests defenses that involve several parts of a node, from outside. docs/security.md lists all
// defenses.

const KEYS = { operatorKey: 'the-key-of-the-operator', secretKey: new Uint8Array(32).fill(7) }

forEngine('sqlite', (engine) => {
  let node: TestNode
  let provider: PlainProvider
  const start = (settings: Partial<Config> = {}) => {
    const location: StoreLocation = engine.location()
    return startForTest({
      ...location,
      ...('databaseUrl' in location && KEYS),
      providers: [plainConfig(provider.origin, { form: 'exact' })],
      ...settings,
    })
  }
  beforeEach(async () => {
    provider = await startPlainProvider()
    node = await start()
  })
  afterEach(async () => {
    await node.stop()
    provider.close()
  })

  const cookieOf = (answer: TestResponse, name: string) =>
    answer.headers['set-cookie']
      ?.map((line) => line.split(';')[0] ?? '')
      .find((pair) => pair.startsWith(name)) ?? ''

  /** Starts a sign-in at the provider. Returns its cookie and the callback path. */
  const begin = async () => {
    const cookie = cookieOf(
      await sendRequest(node.port, 'POST', '/_oauth2/oauth2/auth'),
      'oauth2_csrf',
    )
    return { cookie, callback: `/_oauth2/oauth2/auth?state=${cookie.split('=')[1]}&code=c` }
  }
  /** Signs in as the person that the provider returns. Returns the session cookie. */
  const signIn = async (id: number, planted = '') => {
    provider.user = { body: { id, login: 'ada' } }
    const { cookie, callback } = await begin()
    const headers = { Cookie: planted === '' ? cookie : `${planted}; ${cookie}` }
    const response = await sendRequest(node.port, 'GET', callback, { headers })
    expect(response.status).toBe(303)
    return cookieOf(response, 'gatehouse_')
  }
  const whoIs = async (cookie: string) =>
    (await sendRequest(node.port, 'GET', '/_api/session', { headers: { Cookie: cookie } })).json
  const people = async () => (await node.request('GET', '/_api/user')).json as { id: string }[]

  test('50 concurrent callbacks with one code create one session', async () => {
    const { cookie, callback } = await begin()
    const responses = await Promise.all(
      Array.from({ length: 50 }, () =>
        sendRequest(node.port, 'GET', callback, { headers: { Cookie: cookie } }),
      ),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([303, ...Array(49).fill(400)])
    expect(await people()).toMatchObject(
      [{ username: 'local:operator' }, { sessions: 1 }].reverse(),
    )
    expect(provider.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
  })

  test('a restart with another operator key ends the sessions of the old key, and no others', async () => {
    const session = await operatorSession(node)
    const other = await signIn(1)
    await node.stop()
    node = await start({ operatorKey: 'another-key-that-is-long-enough-to-use' })
    expect(await whoIs(session)).toBeNull()
    expect(await whoIs(other)).toMatchObject({ person: { username: 'oauth2:1' } })
    expect((await node.request('GET', '/_api/audit?what=operator-key.renew')).json.rows).toEqual([
      expect.objectContaining({ actor: 'start', outcome: 'done' }),
    ])
    const kept = await operatorSession(node)
    await node.stop()
    node = await start({ operatorKey: 'another-key-that-is-long-enough-to-use' })
    expect(await whoIs(kept)).toMatchObject({ person: { username: 'local:operator' } })
    await node.stop()
    // The old key does not restore its sessions.
    node = await start()
    expect(await whoIs(session)).toBeNull()
  })

  test('two admins who demote each other concurrently leave one admin', async () => {
    const store = await openStore(engine.location(), 'tool')
    for (const id of [1, 2]) {
      await signIn(id)
      await changeRoleByCommand(
        store,
        createRecorder(),
        `oauth2:${id}`,
        { role: 'admin', databases: null },
        undefined,
        [],
      )
    }
    await store.close()
    const cookies = [await signIn(1), await signIn(2)]
    const ids = await Promise.all(cookies.map(async (cookie) => (await whoIs(cookie)).person.id))
    const responses = await Promise.all(
      cookies.map((cookie, at) =>
        sendRequest(node.port, 'PATCH', `/_api/user/${ids[1 - at]}`, {
          headers: { Cookie: cookie, ...CONSOLE_HEADERS },
          body: { role: 'viewer' },
        }),
      ),
    )
    // The other request is rejected because the role change ended its session.
    expect(responses.map(({ status }) => status === 200).sort()).toEqual([false, true])
    const admins = (await node.request('GET', '/_api/user')).json.filter(
      (one: { role: string; provider: string }) => one.role === 'admin' && one.provider !== 'local',
    )
    expect(admins).toHaveLength(1)
  })

  test('a session cookie planted before a sign-in is replaced', async () => {
    const planted = await signIn(1)
    const [name] = planted.split('=')
    for (const before of [planted, `${name}=${'A'.repeat(43)}`]) {
      const after = await signIn(2, before)
      expect(after).not.toBe(before)
      expect(await whoIs(after)).toMatchObject({ person: { username: 'oauth2:2' } })
      expect(await whoIs(before)).toBeNull()
    }
  })

  test('signing out ends the session on the server', async () => {
    const cookie = await signIn(1)
    expect(await whoIs(cookie)).not.toBeNull()
    const headers = { Cookie: cookie, ...CONSOLE_HEADERS }
    const response = await sendRequest(node.port, 'DELETE', '/_api/session', { headers })
    expect(response.headers['set-cookie']).toEqual([expect.stringMatching(/=; Max-Age=0; /)])
    expect(await whoIs(cookie)).toBeNull()
  })

  test('guessed tokens are limited by address, and a valid token is still accepted', async () => {
    const guess = () =>
      sendRequest(node.port, 'GET', '/_api/endpoint', {
        headers: { Authorization: `Bearer ${createTokenText()}` },
      })
    const statuses: number[] = []
    for (let n = 0; n < FAILURES + 2; n++) statuses.push((await guess()).status)
    expect(statuses).toEqual([...Array(FAILURES).fill(401), 429, 429])
    expect((await guess()).headers['retry-after']).toMatch(/^\d+$/)
    expect((await node.request('GET', '/_api/endpoint')).status).toBe(200)
    // From the same address, sign-ins with the key and with another provider still work.
    expect((await whoIs(await operatorSession(node))).person.role).toBe('admin')
    expect((await whoIs(await signIn(1))).person.role).toBe('pending')
  })

  test('the number of unfinished sign-ins per address is limited', async () => {
    const start = () => sendRequest(node.port, 'POST', '/_oauth2/oauth2/auth')
    const started = await Promise.all(Array.from({ length: UNFINISHED_SIGN_INS }, start))
    expect(started.map(({ status }) => status)).toEqual(started.map(() => 303))
    const [last] = started
    const refused = await start()
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
    expect(refused.text).toContain('Too many sign-ins were started')
    // Finishing a started sign-in still works, and frees room for one more.
    const cookie = cookieOf(last as TestResponse, 'oauth2_csrf')
    provider.user = { body: { id: 1 } }
    const callback = `/_oauth2/oauth2/auth?state=${cookie.split('=')[1]}&code=c`
    const response = await sendRequest(node.port, 'GET', callback, { headers: { Cookie: cookie } })
    expect(response.status).toBe(303)
    expect([(await start()).status, (await start()).status]).toEqual([303, 429])
    // Sessions and tokens are not affected by the limit.
    expect(await whoIs(cookieOf(response, 'gatehouse_'))).not.toBeNull()
    expect((await node.request('GET', '/_api/endpoint')).status).toBe(200)
  })

  test('text that the database cannot store is rejected or not found, never a 500', async () => {
    const session = await signIn(1)
    const strange = ['\0', '\u{D800}', 'a\0b', '\u{FFFE}', '%', '\u{1F600}'.repeat(300)]
    const answers: [string, number][] = []
    const tell = async (method: string, path: string, body?: unknown, headers = {}) => {
      const response = await node.request(method, path, body, { headers })
      answers.push([`${method} ${path} ${JSON.stringify(body ?? '')}`, response.status])
    }
    for (const text of strange) {
      const part = encodeURIComponent(text.toWellFormed())
      for (const [method, path] of [
        ['DELETE', `/_api/token/${part}`],
        ['PATCH', `/_api/user/${part}`],
        ['GET', `/_api/user/${part}/session`],
        ['DELETE', `/_api/user/${part}/session/${part}`],
        ['DELETE', `/_api/user/me/session/${part}`],
        ['DELETE', `/_api/database/${part}`],
        ['DELETE', `/_api/endpoint/${part}`],
        ['GET', `/_api/listener/${part}/traffic`],
        ['POST', `/_api/listener/${part}/retry`],
        ['GET', `/_api/audit?who=${part}&what=${part}`],
        ['GET', `/_api/audit?who=${part}`],
        ['GET', `/_db/${part}/_api/health`],
        ['GET', `/_oauth2/oauth2/auth?state=${part}&code=${part}`],
      ] as const) {
        await tell(method, path, method === 'PATCH' ? { role: 'viewer' } : undefined)
      }
      await tell('POST', '/_api/token', { name: text.slice(0, 60), role: 'viewer' })
      await tell('POST', '/_api/token', { name: 'a', role: 'viewer', databases: [text] })
      await tell('POST', '/_api/database', { name: text })
      await tell('POST', '/_api/endpoint', { endpoint: text, databases: [text] })
      provider.user = { body: { id: text.slice(0, 200), name: text } }
      const { cookie, callback } = await begin()
      const signedIn = await sendRequest(node.port, 'GET', callback, {
        headers: { Cookie: cookie },
      })
      // An id that is not printable ASCII is invalid, so the provider's response is rejected.
      const id = text.slice(0, 200)
      expect([id, signedIn.status]).toEqual([id, /^[\x20-\x7e]+$/.test(id) ? 303 : 503])
      const headers = { Cookie: session, ...CONSOLE_HEADERS, 'User-Agent': 'Mozilla/5.0 \u{FF}' }
      const refused = await sendRequest(node.port, 'DELETE', `/_api/token/${part}`, { headers })
      answers.push([`refused ${part}`, refused.status])
    }
    expect(answers.filter(([, status]) => status >= 500)).toEqual([])
  })
})
