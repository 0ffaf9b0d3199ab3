import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createRecorder } from '../audit/record.ts'
import { OPERATOR } from '../contract/access/operator.ts'
import { TOKENS_PER_PERSON } from '../contract/access/token.ts'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { type Access, createAccess } from './access.ts'
import type { Credentials } from './authenticate.ts'
import { createTokenText } from './secret-text.ts'
import { MAX_SESSION_AGE, MAX_SESSION_IDLE, type SignIn } from './sessions.ts'

// People, sessions and tokens are tested in one file, because a change to one affects the others.

const HOUR = 60 * 60 * 1000
const actor: Actor = { name: 'local:operator', by: 'session', address: '127.0.0.1' }
const from = { address: '127.0.0.1', userAgent: 'a browser' }
const operator: SignIn = {
  ...OPERATOR,
  name: 'Operator',
  accessToken: 'provider-token-o',
  operatorKey: 'fingerprint',
}
const github = (subject: string, over: Partial<SignIn> = {}): SignIn => ({
  provider: 'github',
  issuer: 'https://github.example/token',
  subject,
  name: `Person ${subject}`,
  accessToken: `provider-token-${subject}`,
  operatorKey: null,
  ...over,
})

forEachEngine((engine) => {
  let store: Store
  let access: Access
  let time: number
  let passed: number
  let entries: AuditEntry[]

  const open = (admins: string[] = []) =>
    createAccess({
      store,
      vault: createVault(randomBytes(32)),
      record: async (_trx, entry) => {
        entries.push(entry)
      },
      admins,
      now: () => time,
      steady: () => passed,
    })
  beforeEach(async () => {
    store = await engine.open()
    time = Date.parse('2026-11-20T12:00:00Z')
    passed = 0
    entries = []
    access = open()
  })

  const known = async (credentials: Credentials) => access.authenticate(credentials)
  const bySession = (session: string) => known({ authorization: undefined, session })
  const byToken = (token: string) => known({ authorization: `Bearer ${token}`, session: undefined })
  const idOf = async (username: string) =>
    (await access.people()).find((each) => each.username === username)?.id ?? ''
  /** Signs in a person from GitHub whom the operator makes an admin. */
  const admin = async (subject: string) => {
    await access.signIn(github(subject), from)
    await access.changeRole(await idOf(`github:${subject}`), 'admin', actor)
  }

  describe('signing in', () => {
    it('makes the operator an admin and other people pending', async () => {
      expect(await bySession(await access.signIn(operator, from))).toMatchObject({
        username: 'local:operator',
        role: 'admin',
        by: 'session',
      })
      expect(await bySession(await access.signIn(github('1'), from))).toMatchObject({
        username: 'github:1',
        name: 'Person 1',
        role: 'pending',
      })
    })

    it('rejects an operator key that was renewed during the sign-in', async () => {
      const renewed = createAccess({
        store,
        vault: createVault(randomBytes(32)),
        record: createRecorder(),
        admins: [],
        now: () => time,
        operatorKey: () => 'another fingerprint',
      })
      await expect(renewed.signIn(operator, from)).rejects.toMatchObject({ code: 'bad-parameter' })
      expect(await store.db.selectFrom('sessions').selectAll().execute()).toEqual([])
      expect(await bySession(await renewed.signIn(github('1'), from))).toBeDefined()
    })

    it('gives the first person to sign in no special role', async () => {
      expect(await bySession(await access.signIn(github('1'), from))).toMatchObject({
        role: 'pending',
      })
    })

    it('makes people named in the configuration admins', async () => {
      access = open(['github:1'])
      expect(await bySession(await access.signIn(github('1'), from))).toMatchObject({
        role: 'admin',
      })
      const other = github('1', { provider: 'oidc' })
      expect(await bySession(await access.signIn(other, from))).toMatchObject({ role: 'pending' })
    })

    it('identifies a person by provider, issuer and id together', async () => {
      await admin('1')
      const same = await access.signIn(github('1', { name: 'Renamed' }), from)
      expect(await bySession(same)).toMatchObject({ role: 'admin', name: 'Renamed' })
      const moved = await access.signIn(github('1', { issuer: 'https://other.example' }), from)
      expect(await bySession(moved)).toMatchObject({ role: 'pending', username: 'github:1' })
      expect(await access.people()).toHaveLength(2)
    })

    it('creates one person and several sessions for concurrent first sign-ins', async () => {
      const secrets = await Promise.all(
        Array.from({ length: 20 }, () => access.signIn(github('1'), from)),
      )
      expect(new Set(secrets).size).toBe(20)
      expect(await access.people()).toMatchObject([{ username: 'github:1', sessions: 20 }])
    })

    it('stores session secrets hashed and provider tokens encrypted', async () => {
      const secret = await access.signIn(github('1'), from)
      const rows = [
        ...(await store.db.selectFrom('sessions').selectAll().execute()),
        ...(await store.db.selectFrom('people').selectAll().execute()),
      ]
      expect(rows).toHaveLength(2)
      const stored = JSON.stringify(rows)
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain('provider-token-1')
    })

    it('updates the stored token when a person signs in again', async () => {
      const sealed = async () =>
        (await store.db.selectFrom('people').select('access_token').executeTakeFirstOrThrow())
          .access_token
      await access.signIn(github('1'), from)
      const first = await sealed()
      await access.signIn(github('1', { accessToken: 'new' }), from)
      expect(await sealed()).not.toBe(first)
    })

    it('is recorded in the audit log, and so is a new person', async () => {
      await access.signIn(github('1'), from)
      expect(entries.map(({ action, target }) => [action, target])).toEqual([
        ['person.create', 'github:1'],
        ['session.begin', 'github:1'],
      ])
    })
  })

  describe('a session', () => {
    it('has a new secret of 256 bits', async () => {
      const secrets = [await access.signIn(operator, from), await access.signIn(operator, from)]
      expect(secrets[0]).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(secrets[0]).not.toBe(secrets[1])
      expect(await bySession('x'.repeat(43))).toBeUndefined()
    })

    it('ends after 12 hours without use, and lasts while it is used', async () => {
      const secret = await access.signIn(operator, from)
      for (let n = 0; n < 5; n++) {
        time += MAX_SESSION_IDLE - 1
        expect(await bySession(secret)).toBeDefined()
      }
      time += MAX_SESSION_IDLE
      expect(await bySession(secret)).toBeUndefined()
    })

    it('is not counted after 12 idle hours', async () => {
      await access.signIn(github('1'), from)
      const counted = async () => (await access.people())[0]?.sessions
      expect(await counted()).toBe(1)
      time += MAX_SESSION_IDLE
      expect(await counted()).toBe(0)
    })

    it('ends after 7 days even if it is used', async () => {
      const secret = await access.signIn(operator, from)
      const end = time + MAX_SESSION_AGE
      for (; time < end; time += HOUR) expect(await bySession(secret)).toBeDefined()
      expect(await bySession(secret)).toBeUndefined()
    })

    it('ends after 12 hours of background requests alone', async () => {
      const secret = await access.signIn(operator, from)
      const background = { authorization: undefined, session: secret, background: true }
      const begun = time
      for (time += HOUR; time < begun + MAX_SESSION_IDLE; time += HOUR) {
        expect(await known(background)).toMatchObject({ idleExpires: begun + MAX_SESSION_IDLE })
      }
      expect(await known(background)).toBeUndefined()
      expect(await bySession(secret)).toBeUndefined()
    })

    it('is extended by user activity on an open page', async () => {
      const secret = await access.signIn(operator, from)
      const background = { authorization: undefined, session: secret, background: true }
      time += MAX_SESSION_IDLE - HOUR
      expect(await known(background)).toBeDefined()
      expect(await bySession(secret)).toMatchObject({ idleExpires: time + MAX_SESSION_IDLE })
      time += MAX_SESSION_IDLE - HOUR
      expect(await known(background)).toBeDefined()
    })

    it('keeps its last use across a restart', async () => {
      const secret = await access.signIn(operator, from)
      time += MAX_SESSION_IDLE - 1
      await bySession(secret)
      await access.stop()
      access = open()
      time += MAX_SESSION_IDLE - 1
      expect(await bySession(secret)).toBeDefined()
    })

    it('ends immediately without affecting other sessions', async () => {
      const [one, two] = [await access.signIn(operator, from), await access.signIn(operator, from)]
      const principal = await bySession(one)
      await access.endSession(principal?.personId ?? '', principal?.credential ?? '', actor)
      expect(await bySession(one)).toBeUndefined()
      expect(await bySession(two)).toBeDefined()
      expect(entries.at(-1)).toMatchObject({ action: 'session.end', target: 'local:operator' })
    })

    it('can only be ended for its own person', async () => {
      const mine = await bySession(await access.signIn(operator, from))
      const theirs = await bySession(await access.signIn(github('1'), from))
      await expect(
        access.endSession(mine?.personId ?? '', theirs?.credential ?? '', actor),
      ).rejects.toMatchObject({ code: 'not-found' })
    })

    it('is listed with its address and user agent, and the current one is marked', async () => {
      const current = await bySession(await access.signIn(operator, from))
      time += 1
      await access.signIn(operator, { address: '10.0.0.1', userAgent: null })
      const listed = await access.sessions(current?.personId ?? '', current?.credential ?? '')
      expect(listed).toMatchObject([
        { address: '10.0.0.1', userAgent: null, current: false },
        { address: '127.0.0.1', userAgent: 'a browser', current: true },
      ])
      expect(JSON.stringify(listed)).not.toMatch(/[0-9a-f]{64}/)
    })
  })

  describe('the last known principal', () => {
    // SQLite has no server that can be unavailable.
    const isKept = engine.name === 'postgres'
    const last = (session: string) =>
      access.lastKnown({ authorization: undefined, session })?.username

    it('is available for 30 s after the database confirmed it, even if the clock is set back', async () => {
      const session = await access.signIn(operator, from)
      expect(last(session)).toBeUndefined()
      await bySession(session)
      passed += 29_999
      expect(last(session)).toBe(isKept ? 'local:operator' : undefined)
      time -= 3_600_000
      expect(last(session)).toBe(isKept ? 'local:operator' : undefined)
      passed += 1
      expect(last(session)).toBeUndefined()
    })

    it('is not available after a rejection or a change', async () => {
      const session = await access.signIn(operator, from)
      await bySession(session)
      await store.db.deleteFrom('sessions').execute()
      await access.authenticate({ authorization: undefined, session })
      if (isKept) expect(last(session)).toBeUndefined()

      const another = await access.signIn(operator, from)
      await bySession(another)
      access.sync()
      expect(last(another)).toBeUndefined()
    })
  })

  describe('a role', () => {
    it("can be changed by an admin, which ends the person's sessions", async () => {
      const secret = await access.signIn(github('1'), from)
      expect(await bySession(secret)).toBeDefined()
      await access.changeRole(await idOf('github:1'), 'operator', actor)
      expect(await bySession(secret)).toBeUndefined()
      expect(await bySession(await access.signIn(github('1'), from))).toMatchObject({
        role: 'operator',
      })
      expect(entries.find(({ action }) => action === 'person.role')).toMatchObject({
        target: 'github:1',
        before: { role: 'pending' },
        after: { role: 'operator' },
      })
    })

    it('of the last admin cannot be lowered; the operator does not count and stays an admin', async () => {
      await access.signIn(operator, from)
      await admin('1')
      const refused = { code: 'conflict', message: expect.stringContaining('the last admin') }
      await expect(
        access.changeRole(await idOf('github:1'), 'viewer', actor),
      ).rejects.toMatchObject(refused)
      await expect(
        access.changeRole(await idOf('local:operator'), 'viewer', actor),
      ).rejects.toMatchObject({ code: 'conflict' })
    })

    it('leaves one admin when two demote each other concurrently', async () => {
      await admin('1')
      await admin('2')
      const [one, two] = [await idOf('github:1'), await idOf('github:2')]
      const results = await Promise.allSettled([
        access.changeRole(one, 'viewer', actor),
        access.changeRole(two, 'viewer', actor),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const admins = (await access.people()).filter(({ role }) => role === 'admin')
      expect(admins).toHaveLength(1)
    })

    it('of a person named in the configuration cannot be lowered', async () => {
      access = open(['github:1'])
      await access.signIn(github('1'), from)
      await admin('2')
      await expect(
        access.changeRole(await idOf('github:1'), 'viewer', actor),
      ).rejects.toMatchObject({ message: expect.stringContaining('GATEHOUSE_ADMINS') })
    })

    it('of an unknown person is 404', async () => {
      await expect(access.changeRole('no-such', 'viewer', actor)).rejects.toMatchObject({
        code: 'not-found',
      })
    })
  })

  describe('removed access', () => {
    it('ends sessions and tokens, rejects the sign-in, and is reversible', async () => {
      await admin('1')
      await access.signIn(github('2'), from)
      await access.changeRole(await idOf('github:2'), 'viewer', actor)
      const session = await access.signIn(github('2'), from)
      const owner = { personId: await idOf('github:2'), role: 'viewer' } as const
      const { token } = await access.createToken(owner, { name: 'a', role: 'viewer' }, actor)
      await byToken(token)

      await access.changeRole(await idOf('github:2'), 'none', actor)
      expect(await bySession(session)).toBeUndefined()
      await expect(byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(await access.tokens('everybody')).toEqual([])
      expect(entries.at(-1)).toMatchObject({
        action: 'person.role',
        target: 'github:2',
        before: { role: 'viewer' },
        after: { role: 'none', revokedTokens: 1 },
      })
      await expect(access.signIn(github('2'), from)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('Your access to this server was removed.'),
      })
      await expect(
        access.createToken(owner, { name: 'b', role: 'viewer' }, actor),
      ).rejects.toMatchObject({ code: 'forbidden' })
      const listed = (await access.people()).at(-1)
      expect(listed).toMatchObject({ username: 'github:2', role: 'none', sessions: 0 })
      const stored = await store.db
        .selectFrom('people')
        .select('access_token')
        .where('username', '=', 'github:2')
        .executeTakeFirst()
      expect(stored).toEqual({ access_token: null })

      await access.changeRole(await idOf('github:2'), 'viewer', actor)
      await expect(byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(await bySession(await access.signIn(github('2'), from))).toMatchObject({
        role: 'viewer',
      })
    })

    it('is rejected for the last admin and for the operator', async () => {
      await access.signIn(operator, from)
      await admin('1')
      await expect(access.changeRole(await idOf('github:1'), 'none', actor)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('the last admin'),
      })
      await expect(
        access.changeRole(await idOf('local:operator'), 'none', actor),
      ).rejects.toMatchObject({ code: 'conflict' })
    })

    it('invalidates sessions and tokens that are still stored', async () => {
      const session = await access.signIn(github('2'), from)
      const owner = { personId: await idOf('github:2'), role: 'viewer' } as const
      const { token } = await access.createToken(owner, { name: 'a', role: 'viewer' }, actor)
      // Change only the role, as if another node had stored the session and the token during the
      // removal.
      await store.db
        .updateTable('people')
        .set({ role: 'none' })
        .where('username', '=', 'github:2')
        .execute()
      access.sync()
      expect(await bySession(session)).toBeUndefined()
      await expect(byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    })
  })

  describe('a token', () => {
    const owner = async () => {
      const principal = await bySession(await access.signIn(operator, from))
      if (principal === undefined) throw new Error('not signed in')
      return principal
    }

    it('is shown once and stored as its hash', async () => {
      const { token, info } = await access.createToken(
        await owner(),
        { name: 'ci', role: 'viewer' },
        actor,
      )
      expect(await byToken(token)).toMatchObject({
        username: 'local:operator',
        role: 'viewer',
        by: 'token',
        databases: null,
      })
      const rows = await store.db.selectFrom('tokens').selectAll().execute()
      expect(JSON.stringify(rows)).not.toContain(token)
      expect(info).toMatchObject({ name: 'ci', prefix: token.slice(0, 8), owner: 'local:operator' })
      expect(JSON.stringify([await access.tokens('everybody'), entries])).not.toContain(token)
    })

    it('is accepted as Bearer and as the user name of a URL with an empty password', async () => {
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const basic = (text: string) =>
        known({
          authorization: `Basic ${Buffer.from(text).toString('base64')}`,
          session: undefined,
        })
      expect(await basic(`${token}:`)).toMatchObject({ by: 'token' })
      expect(await basic(token)).toMatchObject({ by: 'token' })
      await expect(basic(`${token}:x`)).rejects.toMatchObject({ code: 'unauthenticated' })
      await expect(basic(`x:${token}`)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('takes precedence over a session, also when it is invalid', async () => {
      const session = await access.signIn(operator, from)
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const both = (text: string) => known({ authorization: `Bearer ${text}`, session })
      expect(await both(token)).toMatchObject({ by: 'token', role: 'viewer' })
      await expect(both(createTokenText())).rejects.toMatchObject({ code: 'unauthenticated' })
      await expect(known({ authorization: 'Digest x', session })).rejects.toMatchObject({
        code: 'unauthenticated',
      })
    })

    it('is cached if the store detects every change, and queried again otherwise', async () => {
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const credentials = { authorization: `Bearer ${token}`, session: undefined }
      const principal = await access.authenticate(credentials)
      const again = access.authenticate(credentials)
      if (store.engine === 'sqlite') expect(again).toBe(principal)
      else expect(again).toBeInstanceOf(Promise)
      access.sync()
      expect(access.authenticate(credentials)).toBeInstanceOf(Promise)
    })

    it('is not accepted as a session secret, nor a session secret as a token', async () => {
      const session = await access.signIn(operator, from)
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      expect(await bySession(session)).toMatchObject({ by: 'session' })
      expect(await byToken(token)).toMatchObject({ by: 'token' })
      expect(await bySession(token)).toBe(undefined)
      await expect(byToken(session)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it("has the lower of its own role and its owner's current role", async () => {
      await admin('1')
      await admin('2')
      const principal = await bySession(await access.signIn(github('1'), from))
      const { token } = await access.createToken(
        principal ?? (await owner()),
        { name: 'a', role: 'admin' },
        actor,
      )
      expect(await byToken(token)).toMatchObject({ role: 'admin' })
      await access.changeRole(await idOf('github:1'), 'viewer', actor)
      expect(await byToken(token)).toMatchObject({ role: 'viewer' })
      await access.changeRole(await idOf('github:1'), 'pending', actor)
      expect(await byToken(token)).toMatchObject({ role: 'pending' })
    })

    it('cannot have a higher role than its owner', async () => {
      await access.signIn(github('1'), from)
      await access.changeRole(await idOf('github:1'), 'viewer', actor)
      const viewer = await bySession(await access.signIn(github('1'), from))
      await expect(
        access.createToken(viewer ?? (await owner()), { name: 'a', role: 'operator' }, actor),
      ).rejects.toMatchObject({ code: 'forbidden' })
    })

    it('that a token creates has no wider scope and no later expiry', async () => {
      const end = time + HOUR
      const limits = { databases: ['_system', 'blog'], expires: new Date(end).toISOString() }
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'operator', ...limits },
        actor,
      )
      const requested = async (over: object) =>
        access.createToken(
          (await byToken(token)) ?? (await owner()),
          { name: 'b', role: 'viewer', ...limits, ...over },
          actor,
        )
      for (const more of [
        { role: 'admin' as const },
        { databases: null },
        { databases: undefined },
        { databases: ['blog', 'shop'] },
        { expires: null },
        { expires: undefined },
        { expires: new Date(end + 1).toISOString() },
      ]) {
        await expect(requested(more)).rejects.toMatchObject({ code: 'forbidden' })
      }
      const { info } = await requested({ databases: ['blog'] })
      expect(info).toMatchObject({ databases: ['blog'], expires: limits.expires })
    })

    it('names at most 1,000 databases', async () => {
      const databases = Array.from({ length: 1_001 }, (_, at) => `n${at}`)
      const create = async (some: string[]) =>
        access.createToken(await owner(), { name: 'a', role: 'viewer', databases: some }, actor)
      await expect(create(databases)).rejects.toThrow('databases: at most 1,000 names.')
      expect((await create(databases.slice(1))).info.databases).toHaveLength(1_000)
    })

    it('is rejected beyond 1,000 per owner', async () => {
      const one = await owner()
      const row = {
        ...{ owner_id: one.personId, role: 'viewer', name: 'n', prefix: 'p', databases: null },
        ...{ created_at: time, expires_at: null, last_used_at: null },
      }
      const rows = Array.from({ length: TOKENS_PER_PERSON - 1 }, (_, at) => {
        return { ...row, id: `id${at}`, hash: `hash${at}` }
      })
      for (let at = 0; at < rows.length; at += 100) {
        await store.db
          .insertInto('tokens')
          .values(rows.slice(at, at + 100))
          .execute()
      }
      const input = { name: 'ci', role: 'viewer' } as const
      await access.createToken(one, input, actor)
      await expect(access.createToken(one, input, actor)).rejects.toMatchObject({
        code: 'too-many-requests',
        message: 'local:operator has 1,000 tokens, the maximum. Revoke one first.',
      })
    })

    it('carries its databases and expires', async () => {
      const expires = new Date(time + HOUR).toISOString()
      const { token } = await access.createToken(
        await owner(),
        { name: 'a', role: 'viewer', databases: ['blog', 'blog'], expires },
        actor,
      )
      expect(await byToken(token)).toMatchObject({ databases: ['blog'] })
      time += HOUR
      await expect(byToken(token)).rejects.toMatchObject({ message: 'The token has expired.' })
    })

    it.each([
      [{ expires: 'tomorrow' }, 'bad-parameter'],
      [{ expires: '2020-01-01T00:00:00Z' }, 'bad-parameter'],
      [{ databases: ['1a'] }, 'bad-database-name'],
      [{ databases: [] }, 'bad-parameter'],
    ])('is rejected with %j', async (over, code) => {
      const input = { name: 'a', role: 'viewer' as const, ...over }
      const requested = owner().then((who) => access.createToken(who, input, actor))
      await expect(requested).rejects.toMatchObject({ code })
      expect(await access.tokens('everybody')).toEqual([])
    })

    it('is invalid immediately after its owner or an admin revokes it', async () => {
      const mine = await owner()
      const { token, info } = await access.createToken(mine, { name: 'a', role: 'viewer' }, actor)
      expect(await byToken(token)).toBeDefined()
      const stranger = { personId: 'another', role: 'operator' as const }
      await expect(access.revokeToken(stranger, info.id, actor)).rejects.toMatchObject({
        code: 'not-found',
      })
      await access.revokeToken(mine, info.id, actor)
      await expect(byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(entries.at(-1)).toMatchObject({ action: 'token.revoke', target: 'local:operator/a' })
    })

    it('is listed with its last use', async () => {
      const mine = await owner()
      const { token } = await access.createToken(mine, { name: 'a', role: 'viewer' }, actor)
      expect(await access.tokens(mine.personId)).toMatchObject([{ lastUsed: null }])
      time += HOUR
      await byToken(token)
      await access.flushUses()
      expect(await access.tokens(mine.personId)).toMatchObject([
        { lastUsed: new Date(time).toISOString() },
      ])
      expect(await access.tokens('another')).toEqual([])
    })
  })

  it('applies changes of another process after a sync', async () => {
    const secret = await access.signIn(operator, from)
    await bySession(secret)
    await store.db.deleteFrom('sessions').execute()
    access.sync()
    expect(await bySession(secret)).toBeUndefined()
  })
})
