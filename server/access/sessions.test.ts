import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createRecorder } from '../audit/record.ts'
import { SESSION_IDLE } from '../contract/access/session.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createVault } from '../storage/vault.ts'
import { actor, createAccessFixture, from, github, HOUR, operator } from './access.testing.ts'
import { type Access, createAccess } from './access.ts'
import { MAX_SESSION_AGE } from './sessions.ts'

forEachEngine((engine) => {
  const fixture = createAccessFixture(engine)

  describe('signing in', () => {
    it('makes the operator an admin and other people pending', async () => {
      expect(await fixture.bySession(await fixture.access.signIn(operator, from))).toMatchObject({
        username: 'local:operator',
        role: 'admin',
        by: 'session',
      })
      expect(await fixture.bySession(await fixture.access.signIn(github('1'), from))).toMatchObject(
        {
          username: 'github:1',
          name: 'Person 1',
          role: 'pending',
        },
      )
    })

    it('rejects an operator key that was renewed during the sign-in', async () => {
      const renewed = createAccess({
        store: fixture.store,
        vault: createVault(randomBytes(32)),
        record: createRecorder(),
        admins: [],
        now: () => fixture.time,
        operatorKey: () => 'another fingerprint',
      })
      await expect(renewed.signIn(operator, from)).rejects.toMatchObject({ code: 'bad-parameter' })
      expect(await fixture.store.db.selectFrom('sessions').selectAll().execute()).toEqual([])
      expect(await fixture.bySession(await renewed.signIn(github('1'), from))).toBeDefined()
    })

    it('ends with the operator key that it began with', async () => {
      const session = await fixture.access.signIn(operator, from)
      const other = await fixture.access.signIn(github('1'), from)
      const open = (operatorKey: string) =>
        createAccess({
          store: fixture.store,
          vault: createVault(randomBytes(32)),
          record: createRecorder(),
          admins: [],
          now: () => fixture.time,
          operatorKey: () => operatorKey,
        })
      const who = async (access: Access, secret: string) =>
        (await access.authenticate({ authorization: undefined, session: secret }))?.username
      expect(await who(open('fingerprint'), session)).toBe('local:operator')
      const replaced = open('another fingerprint')
      expect(await who(replaced, session)).toBeUndefined()
      expect(await who(replaced, other)).toBe('github:1')
    })

    it('gives the first person to sign in no special role', async () => {
      expect(await fixture.bySession(await fixture.access.signIn(github('1'), from))).toMatchObject(
        {
          role: 'pending',
        },
      )
    })

    it('makes people named in the configuration admins', async () => {
      fixture.access = fixture.open(['github:1'])
      expect(await fixture.bySession(await fixture.access.signIn(github('1'), from))).toMatchObject(
        {
          role: 'admin',
        },
      )
      const other = github('1', { provider: 'oidc' })
      expect(await fixture.bySession(await fixture.access.signIn(other, from))).toMatchObject({
        role: 'pending',
      })
    })

    it('identifies a person by provider, issuer and id together', async () => {
      await fixture.signInAdmin('1')
      const same = await fixture.access.signIn(github('1', { name: 'Renamed' }), from)
      expect(await fixture.bySession(same)).toMatchObject({ role: 'admin', name: 'Renamed' })
      const moved = await fixture.access.signIn(
        github('1', { issuer: 'https://other.example' }),
        from,
      )
      expect(await fixture.bySession(moved)).toMatchObject({
        role: 'pending',
        username: 'github:1',
      })
      expect(await fixture.access.people()).toHaveLength(2)
    })

    it('creates one person and several sessions for concurrent first sign-ins', async () => {
      const secrets = await Promise.all(
        Array.from({ length: 20 }, () => fixture.access.signIn(github('1'), from)),
      )
      expect(new Set(secrets).size).toBe(20)
      expect(await fixture.access.people()).toMatchObject([{ username: 'github:1', sessions: 20 }])
    })

    it('stores session secrets hashed and provider tokens encrypted', async () => {
      const secret = await fixture.access.signIn(github('1'), from)
      const rows = [
        ...(await fixture.store.db.selectFrom('sessions').selectAll().execute()),
        ...(await fixture.store.db.selectFrom('people').selectAll().execute()),
      ]
      expect(rows).toHaveLength(2)
      const stored = JSON.stringify(rows)
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain('provider-token-1')
    })

    it('updates the stored token when a person signs in again', async () => {
      const sealed = async () =>
        (
          await fixture.store.db
            .selectFrom('people')
            .select('access_token')
            .executeTakeFirstOrThrow()
        ).access_token
      await fixture.access.signIn(github('1'), from)
      const first = await sealed()
      await fixture.access.signIn(github('1', { accessToken: 'new' }), from)
      expect(await sealed()).not.toBe(first)
    })

    it('is recorded in the audit log, and so is a new person', async () => {
      await fixture.access.signIn(github('1'), from)
      expect(fixture.entries.map(({ action, target }) => [action, target])).toEqual([
        ['person.create', 'github:1'],
        ['session.begin', 'github:1'],
      ])
    })
  })

  describe('a session', () => {
    it('has a new secret of 256 bits', async () => {
      const secrets = [
        await fixture.access.signIn(operator, from),
        await fixture.access.signIn(operator, from),
      ]
      expect(secrets[0]).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(secrets[0]).not.toBe(secrets[1])
      expect(await fixture.bySession('x'.repeat(43))).toBeUndefined()
    })

    it('ends after 12 hours without use, and lasts while it is used', async () => {
      const secret = await fixture.access.signIn(operator, from)
      for (let n = 0; n < 5; n++) {
        fixture.time += SESSION_IDLE - 1
        expect(await fixture.bySession(secret)).toBeDefined()
      }
      fixture.time += SESSION_IDLE
      expect(await fixture.bySession(secret)).toBeUndefined()
    })

    it('is not counted after 12 idle hours', async () => {
      await fixture.access.signIn(github('1'), from)
      const counted = async () => (await fixture.access.people())[0]?.sessions
      expect(await counted()).toBe(1)
      fixture.time += SESSION_IDLE
      expect(await counted()).toBe(0)
    })

    it('ends after 7 days even if it is used', async () => {
      const secret = await fixture.access.signIn(operator, from)
      const end = fixture.time + MAX_SESSION_AGE
      for (; fixture.time < end; fixture.time += HOUR)
        expect(await fixture.bySession(secret)).toBeDefined()
      expect(await fixture.bySession(secret)).toBeUndefined()
    })

    it('ends after 12 hours of background requests alone', async () => {
      const secret = await fixture.access.signIn(operator, from)
      const background = { authorization: undefined, session: secret, background: true }
      const begun = fixture.time
      for (fixture.time += HOUR; fixture.time < begun + SESSION_IDLE; fixture.time += HOUR) {
        expect(await fixture.authenticate(background)).toMatchObject({
          idleExpires: begun + SESSION_IDLE,
        })
      }
      expect(await fixture.authenticate(background)).toBeUndefined()
      expect(await fixture.bySession(secret)).toBeUndefined()
    })

    it('is extended by user activity on an open page', async () => {
      const secret = await fixture.access.signIn(operator, from)
      const background = { authorization: undefined, session: secret, background: true }
      fixture.time += SESSION_IDLE - HOUR
      expect(await fixture.authenticate(background)).toBeDefined()
      expect(await fixture.bySession(secret)).toMatchObject({
        idleExpires: fixture.time + SESSION_IDLE,
      })
      fixture.time += SESSION_IDLE - HOUR
      expect(await fixture.authenticate(background)).toBeDefined()
    })

    it('keeps its last use across a restart', async () => {
      const secret = await fixture.access.signIn(operator, from)
      fixture.time += SESSION_IDLE - 1
      await fixture.bySession(secret)
      await fixture.access.stop()
      fixture.access = fixture.open()
      fixture.time += SESSION_IDLE - 1
      expect(await fixture.bySession(secret)).toBeDefined()
    })

    it('ends immediately without affecting other sessions', async () => {
      const [one, two] = [
        await fixture.access.signIn(operator, from),
        await fixture.access.signIn(operator, from),
      ]
      const principal = await fixture.bySession(one)
      await fixture.access.endSession(principal?.personId ?? '', principal?.credential ?? '', actor)
      expect(await fixture.bySession(one)).toBeUndefined()
      expect(await fixture.bySession(two)).toBeDefined()
      expect(fixture.entries.at(-1)).toMatchObject({
        action: 'session.end',
        target: 'local:operator',
      })
    })

    it('can only be ended for its own person', async () => {
      const mine = await fixture.bySession(await fixture.access.signIn(operator, from))
      const theirs = await fixture.bySession(await fixture.access.signIn(github('1'), from))
      await expect(
        fixture.access.endSession(mine?.personId ?? '', theirs?.credential ?? '', actor),
      ).rejects.toMatchObject({ code: 'not-found' })
    })

    it('of an unknown person is neither listed nor ended', async () => {
      const unknown = { code: 'not-found', message: 'There is no such person.' }
      await expect(fixture.access.sessions('nobody', '')).rejects.toMatchObject(unknown)
      await expect(fixture.access.endSession('nobody', 'all', actor)).rejects.toMatchObject(unknown)
    })

    it('is listed with its address and user agent, and the current one is marked', async () => {
      const current = await fixture.bySession(await fixture.access.signIn(operator, from))
      fixture.time += 1
      await fixture.access.signIn(operator, { address: '10.0.0.1', userAgent: null })
      const listed = await fixture.access.sessions(
        current?.personId ?? '',
        current?.credential ?? '',
      )
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
      fixture.access.lastKnown({ authorization: undefined, session })?.username

    it('is available for 30 s after the database confirmed it, even if the clock is set back', async () => {
      const session = await fixture.access.signIn(operator, from)
      expect(last(session)).toBeUndefined()
      await fixture.bySession(session)
      fixture.passed += 29_999
      expect(last(session)).toBe(isKept ? 'local:operator' : undefined)
      fixture.time -= 3_600_000
      expect(last(session)).toBe(isKept ? 'local:operator' : undefined)
      fixture.passed += 1
      expect(last(session)).toBeUndefined()
    })

    it('is not available to requests with a token', async () => {
      const session = await fixture.access.signIn(operator, from)
      await fixture.bySession(session)
      const owner = { personId: await fixture.idOf('local:operator'), role: 'admin' } as const
      const input = { name: 'a', role: 'viewer' } as const
      const { token } = await fixture.access.createToken(owner, input, actor)
      await fixture.byToken(token)
      const authorization = `Bearer ${token}`
      expect(fixture.access.lastKnown({ authorization, session: undefined })).toBeUndefined()
      expect(fixture.access.lastKnown({ authorization, session })).toBeUndefined()
    })

    it('is not available after a rejection or a change', async () => {
      const session = await fixture.access.signIn(operator, from)
      await fixture.bySession(session)
      await fixture.store.db.deleteFrom('sessions').execute()
      await fixture.access.authenticate({ authorization: undefined, session })
      if (isKept) expect(last(session)).toBeUndefined()

      const another = await fixture.access.signIn(operator, from)
      await fixture.bySession(another)
      fixture.access.sync()
      expect(last(another)).toBeUndefined()
    })
  })

  it('applies changes of another process after a sync', async () => {
    const secret = await fixture.access.signIn(operator, from)
    await fixture.bySession(secret)
    await fixture.store.db.deleteFrom('sessions').execute()
    fixture.access.sync()
    expect(await fixture.bySession(secret)).toBeUndefined()
  })
})
