import { describe, expect, it } from 'vitest'
import type { Role } from '../contract/access/principal.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { actor, createAccessFixture, from, github, operator } from './access.testing.ts'

forEachEngine((engine) => {
  const fixture = createAccessFixture(engine)

  it('are listed by role, username and issuer', async () => {
    for (const [subject, issuer] of [
      ['2', 'a'],
      ['1', 'b'],
      ['1', 'a'],
      ['3', 'a'],
    ] as const) {
      await fixture.access.signIn(github(subject, { issuer }), from)
    }
    await fixture.access.changeRole(await fixture.idOf('github:3'), { role: 'viewer' }, actor)
    const listed = (await fixture.access.people()).map(({ username, issuer }) => [username, issuer])
    expect(listed).toEqual([
      ['github:1', 'a'],
      ['github:1', 'b'],
      ['github:2', 'a'],
      ['github:3', 'a'],
    ])
  })

  describe('a role', () => {
    it("can be changed by an admin, which ends the person's sessions", async () => {
      const secret = await fixture.access.signIn(github('1'), from)
      expect(await fixture.bySession(secret)).toBeDefined()
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'operator' }, actor)
      expect(await fixture.bySession(secret)).toBeUndefined()
      expect(await fixture.bySession(await fixture.access.signIn(github('1'), from))).toMatchObject(
        {
          role: 'operator',
        },
      )
      expect(fixture.entries.find(({ action }) => action === 'person.role')).toMatchObject({
        target: 'github:1',
        before: { role: 'pending' },
        after: { role: 'operator' },
      })
    })

    it('of the last admin can be lowered while there is an operator key, whose holder is an admin', async () => {
      fixture.access = fixture.open([], () => 'fingerprint')
      await fixture.signInAdmin('1')
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'viewer' }, actor)
      expect(await fixture.access.people()).toMatchObject([{ role: 'viewer' }])
    })

    it.each([
      ['databases', { databases: ['_system'], expires: null }],
      ['time', { databases: null, expires: Date.parse('2100-01-01') }],
    ])('cannot be raised, only lowered, by a token limited in %s', async (_, limits) => {
      await fixture.signInAdmin('1')
      await fixture.access.signIn(github('2'), from)
      const owner = { personId: await fixture.idOf('github:1'), role: 'admin' } as const
      const [limited, unlimited] = await Promise.all(
        [limits, { databases: null, expires: null }].map(async ({ databases, expires }, at) => {
          const input = {
            name: `${at}`,
            role: 'admin',
            databases,
            expires: toIsoTime(expires),
          } as const
          const { token } = await fixture.access.createToken(owner, input, actor)
          return { ...actor, by: 'token', authorization: await fixture.byToken(token) } as Caller
        }),
      )
      const change = async (role: Role, by = limited as Caller) =>
        fixture.access.changeRole(await fixture.idOf('github:2'), { role }, by)
      const refused = { code: 'forbidden', message: expect.stringContaining('limited') }
      await expect(change('viewer')).rejects.toMatchObject(refused)
      await change('operator', unlimited)
      await expect(change('admin')).rejects.toMatchObject(refused)
      await change('viewer')
      await change('none')
      await expect(change('pending')).rejects.toMatchObject(refused)
    })

    it('of the last admin cannot be lowered without an operator key; the operator stays an admin', async () => {
      await fixture.access.signIn(operator, from)
      await fixture.signInAdmin('1')
      const refused = { code: 'conflict', message: expect.stringContaining('the last admin') }
      await expect(
        fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'viewer' }, actor),
      ).rejects.toMatchObject(refused)
      await expect(
        fixture.access.changeRole(await fixture.idOf('local:operator'), { role: 'viewer' }, actor),
      ).rejects.toMatchObject({ code: 'conflict' })
    })

    it('can be limited to databases, which ends sessions and limits tokens', async () => {
      await fixture.access.signIn(github('1'), from)
      const id = await fixture.idOf('github:1')
      await fixture.access.changeRole(id, { role: 'editor' }, actor)
      const secret = await fixture.access.signIn(github('1'), from)
      const owner = { personId: id, role: 'editor' } as const
      const [whole, part] = await Promise.all(
        [null, ['shop', 'blog']].map(async (databases, at) => {
          const input = { name: `${at}`, role: 'editor', databases } as const
          return (await fixture.access.createToken(owner, input, actor)).token
        }),
      )
      const limit = { role: 'editor' as const, databases: ['blog', 'news', 'blog'] }
      await fixture.access.changeRole(id, limit, actor)
      expect(await fixture.bySession(secret)).toBeUndefined()
      const session = await fixture.bySession(await fixture.access.signIn(github('1'), from))
      expect(session).toMatchObject({ role: 'editor', databases: ['blog', 'news'] })
      expect(await fixture.byToken(whole ?? '')).toMatchObject({ databases: ['blog', 'news'] })
      expect(await fixture.byToken(part ?? '')).toMatchObject({ databases: ['blog'] })
      expect(
        fixture.entries.find(
          ({ action, after }) => action === 'person.role' && 'databases' in (after as object),
        ),
      ).toMatchObject({
        before: { role: 'editor', databases: null },
        after: { role: 'editor', databases: ['blog', 'news'] },
      })
      const own = { ...owner, by: 'session', databases: ['blog', 'news'] } as const
      await expect(
        fixture.access.createToken(own, { name: 'a', role: 'viewer', databases: ['shop'] }, actor),
      ).rejects.toThrow('only tokens for your own databases: blog, news')

      // A role alone keeps the limit.
      await fixture.access.changeRole(id, { role: 'viewer' }, actor)
      expect(await fixture.access.people()).toMatchObject([{ databases: ['blog', 'news'] }])
      for (const databases of [[], ['1a']]) {
        await expect(
          fixture.access.changeRole(id, { role: 'viewer', databases }, actor),
        ).rejects.toThrow(/list at least one name|valid database name/)
      }
    })

    it('that is limited cannot be given to the last admin, and gives others no more access', async () => {
      await fixture.signInAdmin('1')
      await fixture.signInAdmin('2')
      const [one, two] = [await fixture.idOf('github:1'), await fixture.idOf('github:2')]
      const limit = (id: string, databases: string[] | null, by: Caller = actor) =>
        fixture.access.changeRole(id, { role: 'admin', databases }, by)
      await limit(one, ['blog'])
      await expect(limit(two, ['blog'])).rejects.toMatchObject({
        message: expect.stringContaining('the last admin'),
      })
      await limit(two, ['_system', 'blog'])
      const session = await fixture.bySession(await fixture.access.signIn(github('2'), from))
      const by = { ...actor, authorization: session } as Caller
      for (const databases of [null, ['_system', 'blog', 'shop']]) {
        await expect(limit(two, databases, by)).rejects.toMatchObject({ code: 'forbidden' })
      }
      await fixture.access.changeRole(one, { role: 'viewer' }, by)
      expect(await fixture.access.people()).toMatchObject([
        { role: 'viewer', databases: ['blog'] },
        { role: 'admin', databases: ['_system', 'blog'] },
      ])
    })

    it('leaves one admin when two demote each other concurrently', async () => {
      await fixture.signInAdmin('1')
      await fixture.signInAdmin('2')
      const [one, two] = [await fixture.idOf('github:1'), await fixture.idOf('github:2')]
      const results = await Promise.allSettled([
        fixture.access.changeRole(one, { role: 'viewer' }, actor),
        fixture.access.changeRole(two, { role: 'viewer' }, actor),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const admins = (await fixture.access.people()).filter(({ role }) => role === 'admin')
      expect(admins).toHaveLength(1)
    })

    it('of a person named in the configuration cannot be lowered', async () => {
      fixture.access = fixture.open(['github:1'])
      await fixture.access.signIn(github('1'), from)
      await fixture.signInAdmin('2')
      await expect(
        fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'viewer' }, actor),
      ).rejects.toMatchObject({ message: expect.stringContaining('GATEHOUSE_ADMINS') })
    })

    it('of an unknown person is 404', async () => {
      await expect(
        fixture.access.changeRole('no-such', { role: 'viewer' }, actor),
      ).rejects.toMatchObject({
        code: 'not-found',
      })
    })
  })

  describe('removed access', () => {
    it('ends sessions and tokens, rejects the sign-in, and is reversible', async () => {
      await fixture.signInAdmin('1')
      await fixture.access.signIn(github('2'), from)
      await fixture.access.changeRole(await fixture.idOf('github:2'), { role: 'viewer' }, actor)
      const session = await fixture.access.signIn(github('2'), from)
      const owner = { personId: await fixture.idOf('github:2'), role: 'viewer' } as const
      const { token } = await fixture.access.createToken(
        owner,
        { name: 'a', role: 'viewer' },
        actor,
      )
      await fixture.byToken(token)

      await fixture.access.changeRole(await fixture.idOf('github:2'), { role: 'none' }, actor)
      expect(await fixture.bySession(session)).toBeUndefined()
      await expect(fixture.byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(await fixture.tokens('everybody')).toEqual([])
      expect(fixture.entries.at(-1)).toMatchObject({
        action: 'person.role',
        target: 'github:2',
        before: { role: 'viewer' },
        after: { role: 'none', revokedTokens: 1 },
      })
      await expect(fixture.access.signIn(github('2'), from)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('Your access to this server was removed.'),
      })
      const listed = (await fixture.access.people()).at(-1)
      expect(listed).toMatchObject({ username: 'github:2', role: 'none', sessions: 0 })
      const stored = await fixture.store.db
        .selectFrom('people')
        .select('access_token')
        .where('username', '=', 'github:2')
        .executeTakeFirst()
      expect(stored).toEqual({ access_token: null })

      await fixture.access.changeRole(await fixture.idOf('github:2'), { role: 'viewer' }, actor)
      await expect(fixture.byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(await fixture.bySession(await fixture.access.signIn(github('2'), from))).toMatchObject(
        {
          role: 'viewer',
        },
      )
    })

    it('is rejected for the last admin without an operator key, and for the operator', async () => {
      await fixture.access.signIn(operator, from)
      await fixture.signInAdmin('1')
      await expect(
        fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'none' }, actor),
      ).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('the last admin'),
      })
      await expect(
        fixture.access.changeRole(await fixture.idOf('local:operator'), { role: 'none' }, actor),
      ).rejects.toMatchObject({ code: 'conflict' })
    })

    it('invalidates sessions and tokens that are still stored', async () => {
      const session = await fixture.access.signIn(github('2'), from)
      const owner = { personId: await fixture.idOf('github:2'), role: 'viewer' } as const
      const { token } = await fixture.access.createToken(
        owner,
        { name: 'a', role: 'viewer' },
        actor,
      )
      // Change only the role, as if another node had stored the session and the token during the
      // removal.
      await fixture.store.db
        .updateTable('people')
        .set({ role: 'none' })
        .where('username', '=', 'github:2')
        .execute()
      fixture.access.sync()
      expect(await fixture.bySession(session)).toBeUndefined()
      await expect(fixture.byToken(token)).rejects.toMatchObject({ code: 'unauthenticated' })
    })
  })
})
