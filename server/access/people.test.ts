import { describe, expect, it } from 'vitest'
import type { AccessRole, PersonChange, Role } from '../contract/access/principal.ts'
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
      await fixture.access.signIn({ ...github('3'), provider: 'oidc' }, from)
      const id = await fixture.idOf('oidc:3')
      const byGroups = { role: 'pending', roleSource: 'groups' } as const
      await expect(
        fixture.access.changeRole(id, byGroups, limited as Caller),
      ).rejects.toMatchObject(refused)
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

  describe('groups', () => {
    /** Signs in Ada, whose groups have a role. Returns the secret of the session. */
    const signIn = (groupRole?: AccessRole, access = fixture.access) =>
      access.signIn({ ...github('ada'), provider: 'oidc', ...(groupRole && { groupRole }) }, from)
    const ada = async () => {
      const [person] = (await fixture.access.people()).filter((one) => one.username === 'oidc:ada')
      return [person?.role, person?.roleSource]
    }
    const change = async (input: PersonChange, by: Caller = actor) =>
      fixture.access.changeRole(await fixture.idOf('oidc:ada'), input, by)

    it('assign a role at each sign-in, with a record, and end other sessions', async () => {
      const first = await signIn('viewer')
      expect(await fixture.bySession(first)).toMatchObject({ role: 'viewer' })
      expect(fixture.entries).toMatchObject([
        { action: 'person.create', after: { role: 'viewer', source: 'groups' } },
        { action: 'session.begin' },
      ])
      expect(await fixture.bySession(await signIn('viewer'))).toMatchObject({ role: 'viewer' })
      expect(await fixture.bySession(first)).toMatchObject({ role: 'viewer' })

      const second = await signIn('operator')
      expect(await fixture.bySession(first)).toBeUndefined()
      expect(await fixture.bySession(second)).toMatchObject({ role: 'operator' })
      const third = await signIn('pending')
      expect(await fixture.bySession(second)).toBeUndefined()
      expect(await fixture.bySession(third)).toMatchObject({ role: 'pending' })
      const source = { source: 'groups' }
      expect(fixture.entries.filter(({ action }) => action === 'person.role')).toEqual([
        expect.objectContaining({
          actor: expect.objectContaining({ name: 'oidc:ada' }),
          before: { role: 'viewer', ...source },
          after: { role: 'operator', ...source },
        }),
        expect.objectContaining({
          before: { role: 'operator', ...source },
          after: { role: 'pending', ...source },
        }),
      ])
    })

    it('raise the revision with a change, which other nodes follow', async () => {
      const revision = () =>
        fixture.store.db.selectFrom('counters').select('value').executeTakeFirstOrThrow()
      await signIn('viewer')
      const before = await revision()
      await signIn('viewer')
      expect(await revision()).toEqual(before)
      await signIn('editor')
      expect(await revision()).toEqual({ value: before.value + 1 })
    })

    it('assign a role to a person who waits, and none without the setting', async () => {
      await signIn()
      expect(await ada()).toEqual(['pending', null])
      await signIn('editor')
      expect(await ada()).toEqual(['editor', 'groups'])
      await signIn()
      expect(await ada()).toEqual(['editor', 'groups'])
    })

    it.each<Role>(['viewer', 'pending', 'admin', 'operator'])(
      'do not change the role %s that an admin has set',
      async (role) => {
        await signIn('operator')
        await change({ role })
        expect(await ada()).toEqual([role, 'admin'])
        for (const groupRole of ['admin', 'pending'] as const) await signIn(groupRole)
        expect(await ada()).toEqual([role, 'admin'])
      },
    )

    it('do not restore access that an admin has removed', async () => {
      await signIn('operator')
      await change({ role: 'none' })
      await expect(signIn('admin')).rejects.toMatchObject({ code: 'forbidden' })
      expect(await ada()).toEqual(['none', 'admin'])
    })

    it('keep a person waiting whom an admin has confirmed as pending', async () => {
      await signIn()
      await change({ role: 'pending' })
      await signIn('operator')
      expect(await ada()).toEqual(['pending', 'admin'])
    })

    it('set the role again if an admin says so', async () => {
      await signIn('operator')
      await change({ role: 'viewer', databases: ['blog'] })
      await change({ role: 'viewer', databases: null, roleSource: 'groups' })
      expect(await ada()).toEqual(['viewer', 'groups'])
      await signIn('editor')
      expect(await ada()).toEqual(['editor', 'groups'])
    })

    it('cannot remove access, or set the role of a person of another provider', async () => {
      await signIn('operator')
      await fixture.access.signIn(github('1'), from)
      const refused = { code: 'bad-parameter', details: { field: '/roleSource' } }
      await expect(change({ role: 'none', roleSource: 'groups' })).rejects.toMatchObject(refused)
      await expect(
        fixture.access.changeRole(
          await fixture.idOf('github:1'),
          { role: 'viewer', roleSource: 'groups' },
          actor,
        ),
      ).rejects.toMatchObject(refused)
    })

    it('do not change the role of a person named in the configuration', async () => {
      fixture.access = fixture.open(['oidc:ada'])
      for (const groupRole of ['viewer', 'pending'] as const) {
        expect(await fixture.bySession(await signIn(groupRole))).toMatchObject({ role: 'admin' })
      }
      expect(await ada()).toEqual(['admin', null])
      fixture.access = fixture.open([])
      await fixture.signInAdmin('1')
      await signIn('viewer')
      expect(await ada()).toEqual(['viewer', 'groups'])
    })

    it('cannot demote the last admin, unless there is an operator key', async () => {
      await signIn('admin')
      await signIn('pending')
      expect(await ada()).toEqual(['admin', 'groups'])
      await fixture.signInAdmin('1')
      await signIn('pending')
      expect(await ada()).toEqual(['pending', 'groups'])
      await change({ role: 'admin', roleSource: 'groups' })
      await fixture.access.changeRole(await fixture.idOf('github:1'), { role: 'none' }, actor)
      await signIn('viewer')
      expect(await ada()).toEqual(['admin', 'groups'])
      await signIn(
        'viewer',
        fixture.open([], () => 'fingerprint'),
      )
      expect(await ada()).toEqual(['viewer', 'groups'])
    })

    it('leave one admin when two sign in concurrently whom they demote', async () => {
      await signIn('admin')
      await fixture.access.signIn({ ...github('eve'), provider: 'oidc', groupRole: 'admin' }, from)
      await Promise.all([
        signIn('pending'),
        fixture.access.signIn({ ...github('eve'), provider: 'oidc', groupRole: 'pending' }, from),
      ])
      const roles = (await fixture.access.people()).map(({ role }) => role)
      expect(roles).toEqual(['pending', 'admin'])
    })

    it('do not overwrite a role that an admin sets during the sign-in', async () => {
      await signIn('viewer')
      await Promise.all([signIn('operator'), change({ role: 'editor' })])
      expect(await ada()).toEqual(['editor', 'admin'])
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
