import { expect, test } from 'vitest'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import { createCsrfToken } from '../routes.ts'
import { createPendingSignIns, type PendingSignIn } from './pending-sign-in.ts'

const vault = createVault(new Uint8Array(32))
const signIn: PendingSignIn = {
  provider: 'github',
  form: 'exact',
  redirectUri: 'https://gate.example/_oauth2/github/auth',
  exchangeUri: 'https://gate.example/_oauth2/github/auth',
  verifier: 'canary-verifier',
  nonce: 'a nonce',
  returnTo: '/_console/',
  revision: 7,
  invitation: 'an-invitation',
  test: null,
}

forEachEngine((engine) => {
  test('is taken once by concurrent callers', async () => {
    const store = await engine.open()
    const pending = createPendingSignIns(store, vault, () => 0)
    const token = createCsrfToken()
    await pending.keep(token, signIn)
    const taken = await Promise.all(Array.from({ length: 50 }, () => pending.take(token, 'github')))
    expect(taken.filter((each) => each !== undefined)).toEqual([signIn])
  })

  test('is taken only by its provider', async () => {
    const pending = createPendingSignIns(await engine.open(), vault, () => 0)
    const token = createCsrfToken()
    await pending.keep(token, signIn)
    expect(await pending.take(token, 'google')).toBeUndefined()
    expect(await pending.take(token, 'github')).toEqual(signIn)
  })

  test('is valid for 300 seconds', async () => {
    let now = 1_000_000
    const pending = createPendingSignIns(await engine.open(), vault, () => now)
    const [early, late] = [createCsrfToken(), createCsrfToken()]
    await pending.keep(early, signIn)
    await pending.keep(late, signIn)
    now += 299_999
    expect(await pending.take(early, 'github')).toEqual(signIn)
    now += 1
    expect(await pending.take(late, 'github')).toBeUndefined()
  })

  test('is replaced by a later one, and expired ones are deleted', async () => {
    let now = 0
    const store = await engine.open()
    const pending = createPendingSignIns(store, vault, () => now)
    const [first, second, third] = [createCsrfToken(), createCsrfToken(), createCsrfToken()]
    await pending.keep(first, signIn)
    await pending.keep(second, signIn, [first])
    expect(await pending.take(first, 'github')).toBeUndefined()
    now += 300_000
    await pending.keep(third, signIn)
    expect(await store.db.selectFrom('sign_ins').select('hash').execute()).toHaveLength(1)
  })

  test('stores the token hashed and the verifier encrypted for its row', async () => {
    const store = await engine.open()
    const pending = createPendingSignIns(store, vault, () => 0)
    const [token, other] = [createCsrfToken(), createCsrfToken()]
    await pending.keep(token, signIn)
    await pending.keep(other, signIn)
    const rows = await store.db.selectFrom('sign_ins').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(JSON.stringify(rows)).not.toContain('canary-verifier')
    const [a, b] = rows
    await store.db
      .updateTable('sign_ins')
      .set({ verifier: b?.verifier ?? '' })
      .where('hash', '=', a?.hash ?? '')
      .execute()
    await expect(
      Promise.all([pending.take(token, 'github'), pending.take(other, 'github')]),
    ).rejects.toThrow()
  })
})
