import { join } from 'node:path'
import type { Actor } from '../contract/audit.ts'
import { Failure } from '../failure.ts'
import { SECRET_KEY_FILE } from '../storage/data-folder.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import { createVault } from '../storage/vault.ts'
import { OPERATOR } from './people.ts'
import { findSecretKey } from './secret-files.ts'

/**
 * Checks that the secret key is the one that encrypted the secrets in the store. A key that is
 * missing may be created only where it loses nothing.
 *
 * @param given the key that the environment gives.
 * @throws Failure `unavailable` if the key is missing or another one and the store holds tokens of
 * providers.
 */
export async function requireSecretKey(
  store: Store,
  data: string,
  given: Uint8Array | undefined,
): Promise<void> {
  // The tokens of the local provider are of no use after the sign-in.
  const sealed = store.db
    .selectFrom('people')
    .select('id')
    .where('provider', '<>', OPERATOR.provider)
    .where('access_token', 'is not', null)
    .limit(1)
  if ((await sealed.executeTakeFirst()) === undefined) return
  const key = findSecretKey(data, given)
  if (key !== undefined) {
    const { prefix } = createVault(key)
    const own = await sealed.where('access_token', 'like', `${prefix}%`).executeTakeFirst()
    if (own !== undefined) return
  }
  const file = join(data, SECRET_KEY_FILE)
  const wrong =
    key === undefined
      ? `the key that encrypted them, ${file}, is missing: put it back`
      : `${given === undefined ? file : 'GATEHOUSE_SECRET_KEY'} is not the key that encrypted them: provide that key`
  throw new Failure(
    'unavailable',
    `The store holds tokens of providers, and ${wrong}, or run "gatehouse secrets discard" to ` +
      'delete these tokens.',
  )
}

/**
 * Deletes everything that the secret key encrypts: the tokens of providers, and sign-ins in progress.
 * Sessions and API tokens stay valid.
 */
export function discardSecrets(store: Store, record: Recorder, actor: Actor): Promise<void> {
  const none = { access_token: null, refresh_token: null, token_expires_at: null }
  return store.change(async (trx) => {
    await trx.updateTable('people').set(none).execute()
    await trx.updateTable('sessions').set(none).execute()
    await trx.deleteFrom('sign_ins').execute()
    await trx.deleteFrom('local_provider').execute()
    await record(trx, {
      actor,
      action: 'secret.discard',
      target: 'provider tokens',
      outcome: 'done',
      before: null,
      after: null,
    })
  })
}
