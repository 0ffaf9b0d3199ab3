import { describe, expect, it } from 'vitest'
import { TOKEN_SCOPES_BYTES, TOKENS_PER_PERSON } from '../contract/access/token.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { actor, createAccessFixture, from, github, HOUR, operator } from './access.testing.ts'
import { createTokenText } from './secrets/secret-text.ts'

forEachEngine((engine) => {
  const fixture = createAccessFixture(engine)

  describe('a token', () => {
    const owner = async () => {
      const principal = await fixture.bySession(await fixture.access.signIn(operator, from))
      if (principal === undefined) throw new Error('not signed in')
      return principal
    }

    it('is shown once and stored as its hash', async () => {
      const { token, info } = await fixture.access.createToken(
        await owner(),
        { name: 'ci', role: 'viewer' },
        actor,
      )
      expect(await fixture.byToken(token)).toMatchObject({
        username: 'local:operator',
        role: 'viewer',
        by: 'token',
        databases: null,
      })
      const rows = await fixture.store.db.selectFrom('tokens').selectAll().execute()
      expect(JSON.stringify(rows)).not.toContain(token)
      expect(info).toMatchObject({ name: 'ci', prefix: token.slice(0, 8), owner: 'local:operator' })
      expect(JSON.stringify([await fixture.tokens('everybody'), fixture.entries])).not.toContain(
        token,
      )
    })

    it('is accepted as Bearer and as the user name of a URL with any password', async () => {
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const basic = (text: string) =>
        fixture.authenticate({
          authorization: `Basic ${Buffer.from(text).toString('base64')}`,
          session: undefined,
        })
      expect(await basic(`${token}:`)).toMatchObject({ by: 'token' })
      expect(await basic(token)).toMatchObject({ by: 'token' })
      expect(await basic(`${token}:undefined`)).toMatchObject({ by: 'token' })
      expect(await basic(`${token}:a:b`)).toMatchObject({ by: 'token' })
      await expect(basic(`x:${token}`)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it('takes precedence over a session, also when it is invalid', async () => {
      const session = await fixture.access.signIn(operator, from)
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const both = (text: string) =>
        fixture.authenticate({ authorization: `Bearer ${text}`, session })
      expect(await both(token)).toMatchObject({ by: 'token', role: 'viewer' })
      await expect(both(createTokenText())).rejects.toMatchObject({ code: 'unauthenticated' })
      await expect(
        fixture.authenticate({ authorization: 'Digest x', session }),
      ).rejects.toMatchObject({
        code: 'unauthenticated',
      })
    })

    it('is cached if the store detects every change, and queried again otherwise', async () => {
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      const credentials = { authorization: `Bearer ${token}`, session: undefined }
      const principal = await fixture.access.authenticate(credentials)
      const again = fixture.access.authenticate(credentials)
      if (fixture.store.engine === 'sqlite') expect(again).toBe(principal)
      else expect(again).toBeInstanceOf(Promise)
      fixture.access.sync()
      expect(fixture.access.authenticate(credentials)).toBeInstanceOf(Promise)
    })

    it('is not accepted as a session secret, nor a session secret as a token', async () => {
      const session = await fixture.access.signIn(operator, from)
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'viewer' },
        actor,
      )
      expect(await fixture.bySession(session)).toMatchObject({ by: 'session' })
      expect(await fixture.byToken(token)).toMatchObject({ by: 'token' })
      expect(await fixture.bySession(token)).toBe(undefined)
      await expect(fixture.byToken(session)).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    it("has the lower of its own role and its owner's current role", async () => {
      await fixture.signInAdmin('1')
      await fixture.signInAdmin('2')
      const principal = await fixture.bySession(await fixture.access.signIn(github('1'), from))
      const { token } = await fixture.access.createToken(
        principal ?? (await owner()),
        { name: 'a', role: 'admin' },
        actor,
      )
      expect(await fixture.byToken(token)).toMatchObject({ role: 'admin' })
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'viewer' }, actor)
      expect(await fixture.byToken(token)).toMatchObject({ role: 'viewer' })
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'pending' }, actor)
      expect(await fixture.byToken(token)).toMatchObject({ role: 'pending' })
    })

    it('cannot have a higher role than its owner', async () => {
      await fixture.access.signIn(github('1'), from)
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'viewer' }, actor)
      const viewer = await fixture.bySession(await fixture.access.signIn(github('1'), from))
      await expect(
        fixture.access.createToken(
          viewer ?? (await owner()),
          { name: 'a', role: 'operator' },
          actor,
        ),
      ).rejects.toMatchObject({ code: 'forbidden' })
    })

    it('that a token creates has no wider scope and no later expiry', async () => {
      const end = fixture.time + HOUR
      const limits = { databases: ['_system', 'blog'], expires: new Date(end).toISOString() }
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'operator', ...limits },
        actor,
      )
      const requested = async (over: object) =>
        fixture.access.createToken(
          (await fixture.byToken(token)) ?? (await owner()),
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

    it('is rejected beyond 1,000 per owner', async () => {
      const one = await owner()
      const row = {
        owner_id: one.personId,
        role: 'viewer',
        name: 'n',
        prefix: 'p',
        databases: null,
        created_at: fixture.time,
        expires_at: null,
        last_used_at: null,
      }
      const rows = Array.from({ length: TOKENS_PER_PERSON - 1 }, (_, at) => {
        return { ...row, id: `id${at}`, hash: `hash${at}` }
      })
      for (let at = 0; at < rows.length; at += 100) {
        await fixture.store.db
          .insertInto('tokens')
          .values(rows.slice(at, at + 100))
          .execute()
      }
      const input = { name: 'ci', role: 'viewer' } as const
      await fixture.access.createToken(one, input, actor)
      await expect(fixture.access.createToken(one, input, actor)).rejects.toMatchObject({
        code: 'too-many-requests',
        message: 'local:operator has 1,000 tokens, the maximum. Revoke one first.',
      })
    })

    it('is rejected if the tokens of its owner name too many databases', async () => {
      const one = await owner()
      const names = (n: number) =>
        Array.from({ length: 1_000 }, (_, at) => `${'x'.repeat(50)}-${n}-${at}`)
      const create = (databases: string[]) =>
        fixture.access.createToken(one, { name: 'ci', role: 'viewer', databases }, actor)
      let created = 0
      const fill = async () => {
        for (; ; created++) await create(names(created))
      }
      await expect(fill()).rejects.toMatchObject({
        code: 'too-many-requests',
        details: { field: '/databases' },
      })
      expect(created).toBeGreaterThan(10)
      const listed = JSON.stringify((await fixture.tokens(one.personId)).map((t) => t.databases))
      expect(listed.length).toBeLessThan(TOKEN_SCOPES_BYTES)
      await create(['blog'])
    })

    it('is listed by owner, then by name', async () => {
      await fixture.signInAdmin('2')
      const other = await fixture.idOf('github:2')
      const mine = await owner()
      for (const [who, name] of [
        [mine, 'b'],
        [{ ...mine, personId: other }, 'z'],
        [mine, 'a'],
      ] as const) {
        await fixture.access.createToken(who, { name, role: 'viewer' }, actor)
      }
      const listed = await fixture.tokens('everybody')
      expect(listed.map(({ name }) => name)).toEqual(['z', 'a', 'b'])
      expect((await fixture.tokens(other)).map(({ name }) => name)).toEqual(['z'])
    })

    it('carries its databases and expires', async () => {
      const expires = new Date(fixture.time + HOUR).toISOString()
      const { token } = await fixture.access.createToken(
        await owner(),
        { name: 'a', role: 'viewer', databases: ['blog', 'blog'], expires },
        actor,
      )
      expect(await fixture.byToken(token)).toMatchObject({ databases: ['blog'] })
      fixture.time += HOUR
      await expect(fixture.byToken(token)).rejects.toMatchObject({
        message: 'The token has expired.',
      })
    })

    it.each([
      [{ expires: 'tomorrow' }, 'bad-parameter'],
      [{ expires: '2020-01-01T00:00:00Z' }, 'bad-parameter'],
      [{ databases: ['1a'] }, 'bad-database-name'],
      [{ databases: [] }, 'bad-parameter'],
    ])('is rejected with %j', async (over, code) => {
      const input = { name: 'a', role: 'viewer' as const, ...over }
      const requested = owner().then((who) => fixture.access.createToken(who, input, actor))
      await expect(requested).rejects.toMatchObject({ code })
      expect(await fixture.tokens('everybody')).toEqual([])
    })

    it('is invalid immediately after its owner or an admin revokes it', async () => {
      const mine = await owner()
      const { token, info } = await fixture.access.createToken(
        mine,
        { name: 'a', role: 'viewer' },
        actor,
      )
      expect(await fixture.byToken(token)).toBeDefined()
      const stranger = { personId: 'another', role: 'operator' as const }
      await expect(fixture.access.revokeToken(stranger, info.id, actor)).rejects.toMatchObject({
        code: 'not-found',
      })
      await fixture.access.revokeToken(mine, info.id, actor)
      await expect(fixture.byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(fixture.entries.at(-1)).toMatchObject({
        action: 'token.revoke',
        target: 'local:operator/a',
      })
    })

    it('is listed with its last use', async () => {
      const mine = await owner()
      const { token } = await fixture.access.createToken(mine, { name: 'a', role: 'viewer' }, actor)
      expect(await fixture.tokens(mine.personId)).toMatchObject([{ lastUsed: null }])
      fixture.time += HOUR
      await fixture.byToken(token)
      await fixture.access.stop()
      expect(await fixture.tokens(mine.personId)).toMatchObject([
        { lastUsed: new Date(fixture.time).toISOString() },
      ])
      expect(await fixture.tokens('another')).toEqual([])
    })
  })
})
