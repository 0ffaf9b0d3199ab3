import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { OPERATOR } from '../../contract/access/principal.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import { beginSession } from '../sessions.ts'
import { openSecretKey } from './secret-files.ts'
import { discardSecrets, requireSecretKey } from './stored-secrets.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER_KEY = Buffer.alloc(32, 2)
const record = createRecorder()

forEachEngine((engine) => {
  let store: Store
  let data: string
  beforeEach(async () => {
    store = await engine.open()
    data = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'))
  })
  afterEach(() => rmSync(data, { recursive: true }))

  const signIn = (provider: string, key = KEY) =>
    beginSession(
      { store, vault: createVault(key), record, admins: [], now: Date.now },
      {
        provider,
        issuer: 'a',
        subject: '1',
        name: null,
        accessToken: 'x',
        operatorKey: null,
      },
      { address: null, userAgent: null },
    )

  describe('requireSecretKey', () => {
    it('accepts any key, and none, while no provider tokens are stored', async () => {
      await signIn(OPERATOR.provider)
      await requireSecretKey(store, data, undefined)
      await requireSecretKey(store, data, OTHER_KEY)
    })

    it('accepts the key that encrypted the tokens, also beside tokens of an older key', async () => {
      await signIn('github')
      await signIn('google', OTHER_KEY)
      await requireSecretKey(store, data, KEY)
      await requireSecretKey(store, data, OTHER_KEY)
    })

    it('rejects a missing key and creates none', async () => {
      await signIn('github')
      await expect(requireSecretKey(store, data, undefined)).rejects.toMatchObject({
        code: 'unavailable',
        message:
          'The database contains encrypted secrets, and the file of the key that encrypted them, ' +
          `${join(data, 'secret.key')}, is missing: restore it, or run "gatehouse secrets ` +
          'discard" to delete these secrets.',
      })
      expect(readdirSync(data)).toEqual([])
    })

    it('rejects another key while a key of a certificate is stored, which discarding deletes', async () => {
      const secret = createVault(KEY).encrypt('x', 'a')
      const values = { name: 'a', kind: 'upload', revision: 1, settings: '{}', secret }
      await store.db.insertInto('certificates').values(values).execute()
      await requireSecretKey(store, data, KEY)
      await expect(requireSecretKey(store, data, OTHER_KEY)).rejects.toThrow('is not the key')
      await discardSecrets(store, record, COMMAND_LINE)
      await requireSecretKey(store, data, OTHER_KEY)
    })

    it('rejects another key and names its source', async () => {
      await signIn('github')
      await expect(requireSecretKey(store, data, OTHER_KEY)).rejects.toThrow(
        'and GATEHOUSE_SECRET_KEY is not the key that encrypted them',
      )
      openSecretKey(data, undefined)
      await expect(requireSecretKey(store, data, undefined)).rejects.toThrow(
        `and ${join(data, 'secret.key')} is not the key that encrypted them`,
      )
    })
  })

  describe('discardSecrets', () => {
    it('allows another key and keeps sessions', async () => {
      await signIn('github')
      await discardSecrets(store, record, COMMAND_LINE)
      await requireSecretKey(store, data, OTHER_KEY)
      const rows = await store.db
        .selectFrom('sessions')
        .innerJoin('people', 'people.id', 'sessions.person_id')
        .select(['sessions.access_token', 'people.access_token as of'])
        .execute()
      expect(rows).toEqual([{ access_token: null, of: null }])
      const last = await store.db.selectFrom('audit').selectAll().orderBy('seq', 'desc').execute()
      expect(last[0]).toMatchObject({ action: 'secret.discard', actor: 'command-line' })
    })
  })
})
