import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthenticator } from '../../access/authenticate.ts'
import { createLastUseRecorder } from '../../access/last-use-recorder.ts'
import { fingerprint, openOperatorKey } from '../../access/secrets/secret-files.ts'
import { beginSession, type SignIn } from '../../access/sessions.ts'
import { createRecorder } from '../../audit/record.ts'
import { OPERATOR } from '../../contract/access/principal.ts'
import type { Store } from '../../storage/store.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import { operatorKeyByCommand } from './operator-key.ts'
import { createTokenByCommand } from './token-create.ts'
import { changeRoleByCommand } from './user-role.ts'

const now = Date.parse('2026-11-20T12:00:00Z')
const record = createRecorder(() => now)

forEngine('sqlite', (engine) => {
  let store: Store
  let data: string
  beforeEach(async () => {
    store = await engine.open()
    data = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  })
  afterEach(() => rmSync(data, { recursive: true }))

  const signIn = (over: Partial<SignIn>) =>
    beginSession(
      { store, vault: createVault(new Uint8Array(32)), record, admins: [], now: () => now },
      {
        provider: 'github',
        issuer: 'a',
        subject: '1',
        name: null,
        accessToken: 'x',
        operatorKey: null,
        ...over,
      },
      { address: null, userAgent: null },
    )
  const roles = async () =>
    (
      await store.db.selectFrom('people').select(['issuer', 'role']).orderBy('issuer').execute()
    ).map(({ issuer, role }) => [issuer, role])
  const recorded = () =>
    store.db
      .selectFrom('audit')
      .select(['actor', 'by', 'action', 'target'])
      .orderBy('seq')
      .execute()

  describe('token create', () => {
    const create = (flags: Record<string, string>) =>
      createTokenByCommand(store, record, flags, now)

    it('creates a token of the operator without a sign-in', async () => {
      const token = await create({ name: 'ci', role: 'operator', databases: 'a,b', expires: '30d' })
      const { authenticate } = createAuthenticator({
        store,
        now: () => now,
        uses: createLastUseRecorder(store, () => {}),
      })
      expect(await authenticate({ authorization: `Bearer ${token}`, session: undefined })).toEqual(
        expect.objectContaining({
          username: 'local:operator',
          role: 'operator',
          databases: ['a', 'b'],
          expires: now + 30 * 24 * 60 * 60 * 1000,
        }),
      )
      expect(await recorded()).toEqual([
        {
          actor: 'command-line',
          by: 'command-line',
          action: 'token.create',
          target: 'local:operator/ci',
        },
      ])
    })

    it.each([
      [{ name: 'a', role: 'pending' }, '--role must be viewer, editor, operator or admin'],
      [{ name: 'a'.repeat(65), role: 'viewer' }, '--name must be 1 to 64 characters'],
      [{ name: 'a', role: 'viewer', expires: '30' }, '--expires must be a duration'],
      [{ name: 'a', role: 'viewer', databases: '1a' }, 'not a valid database name'],
      [
        { name: 'a', role: 'viewer', databases: 'b,'.repeat(1_001) },
        '--databases must be at most 1,000 names',
      ],
    ])('rejects %j with a message', async (flags, says) => {
      await expect(create(flags as unknown as Record<string, string>)).rejects.toThrow(says)
    })
  })

  describe('user role', () => {
    const change = (username: string, role: string, issuer?: string, databases?: string[] | null) =>
      changeRoleByCommand(store, record, username, { role, databases }, issuer, [])

    it('changes the role of a person who has signed in, and ends their sessions', async () => {
      await signIn({})
      await change('github:1', 'admin')
      expect(await roles()).toEqual([['a', 'admin']])
      expect(await store.db.selectFrom('sessions').selectAll().execute()).toEqual([])
      expect((await recorded()).at(-1)).toMatchObject({
        actor: 'command-line',
        action: 'person.role',
        target: 'github:1',
      })
    })

    it('limits the role to databases, keeps the limit without them, and lifts it', async () => {
      await signIn({})
      const limits = () => store.db.selectFrom('people').select('databases').execute()
      await change('github:1', 'editor', undefined, ['blog'])
      expect(await limits()).toEqual([{ databases: '["blog"]' }])
      await change('github:1', 'viewer')
      expect(await limits()).toEqual([{ databases: '["blog"]' }])
      await change('github:1', 'viewer', undefined, null)
      expect(await limits()).toEqual([{ databases: null }])
    })

    it('rejects a name that several issuers use', async () => {
      await signIn({})
      await signIn({ issuer: 'b' })
      await expect(change('github:1', 'viewer')).rejects.toThrow('Add --issuer with one of a, b')
      await change('github:1', 'viewer', 'b')
      expect(await roles()).toEqual([
        ['a', 'pending'],
        ['b', 'viewer'],
      ])
    })

    it('explains what to do for an unknown person and an invalid role', async () => {
      await expect(change('github:9', 'admin')).rejects.toThrow('GATEHOUSE_ADMINS')
      await expect(change('github:9', 'king')).rejects.toThrow(
        'Unknown role "king". Use none, pending, viewer, editor, operator or admin.',
      )
    })
  })

  describe('operator-key', () => {
    const key = (renew: boolean, operatorKey?: string) =>
      operatorKeyByCommand(store, record, { data, operatorKey }, renew)

    it('prints the existing key', async () => {
      const first = await key(false)
      expect(first).toBe(openOperatorKey(data, undefined).read())
      expect(await key(false)).toBe(first)
    })

    it('renews the key and ends only the sessions of the old one', async () => {
      const old = await key(false)
      await signIn({ ...OPERATOR, operatorKey: fingerprint(old) })
      await signIn({})
      const renewed = await key(true)
      expect(renewed).not.toBe(old)
      const remaining = await store.db.selectFrom('sessions').select('operator_key').execute()
      expect(remaining).toEqual([{ operator_key: null }])
      expect((await recorded()).at(-1)).toMatchObject({ action: 'operator-key.renew' })
    })

    it('rejects renewing a key from the environment', async () => {
      await expect(key(true, 'given')).rejects.toThrow('GATEHOUSE_OPERATOR_KEY')
      expect(await key(false, 'given')).toBe('given')
    })
  })
})
