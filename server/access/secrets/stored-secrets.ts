import { join } from 'node:path'
import { OPERATOR } from '../../contract/access/principal.ts'
import type { Actor } from '../../contract/audit.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import { SECRET_KEY_FILE } from '../../storage/data-folder.ts'
import type { Store } from '../../storage/store.ts'
import { createVault } from '../../storage/vault.ts'
import { findSecretKey } from './secret-files.ts'

/**
 * Checks that the secret key is the one that encrypted the secrets in the store. A missing key is
 * accepted only if the store holds no provider tokens, keys of certificates, or secrets of providers and
 * webhooks.
 *
 * @param given the key from the environment.
 * @throws Failure `unavailable` if the key is missing or differs, and the store holds any.
 */
export async function requireSecretKey(
  store: Store,
  data: string,
  given: Uint8Array | undefined,
): Promise<void> {
  const hasSecret = async (prefix = '') => {
    // Tokens of the local provider are not used after the sign-in.
    const tokens = store.db
      .selectFrom('people')
      .select('access_token as secret')
      .where('provider', '<>', OPERATOR.provider)
      .where('access_token', 'like', `${prefix}%`)
    const secrets = store.db
      .selectFrom('webhooks')
      .select('secret')
      .where('secret', 'like', `${prefix}%`)
    const keys = store.db
      .selectFrom('certificates')
      .select('secret')
      .where('secret', 'like', `${prefix}%`)
    const providers = store.db
      .selectFrom('providers')
      .select('secret')
      .where('secret', 'like', `${prefix}%`)
    const all = tokens.unionAll(secrets).unionAll(keys).unionAll(providers)
    return (await all.limit(1).executeTakeFirst()) !== undefined
  }
  if (!(await hasSecret())) return
  const key = findSecretKey(data, given)
  if (key !== undefined) {
    if (await hasSecret(createVault(key).prefix)) return
  }
  const file = join(data, SECRET_KEY_FILE)
  const wrong =
    key === undefined
      ? `the file of the key that encrypted them, ${file}, is missing: restore it`
      : `${given === undefined ? file : 'GATEHOUSE_SECRET_KEY'} is not the key that encrypted them: provide the original key`
  throw new Failure(
    'unavailable',
    `The database contains encrypted secrets, and ${wrong}, or run "gatehouse secrets discard" to ` +
      'delete these secrets.',
  )
}

/**
 * Deletes everything that the secret key encrypts: provider tokens, sign-ins in progress, managed
 * providers, certificates with their keys, and the secrets of webhooks, which pauses them. Sessions and API
 * tokens stay valid.
 */
export function discardSecrets(store: Store, record: Recorder, actor: Actor): Promise<void> {
  const none = { access_token: null }
  return store.change(async (trx) => {
    await trx.updateTable('people').set(none).execute()
    await trx.updateTable('sessions').set(none).execute()
    await trx.deleteFrom('sign_ins').execute()
    await trx.deleteFrom('local_provider').execute()
    await trx.deleteFrom('providers').execute()
    await trx
      .deleteFrom('certificates')
      .where((eb) => eb.or([eb('secret', 'is not', null), eb('acme', 'is not', null)]))
      .execute()
    const names = ['certificate-authority', 'acme-account']
    await trx.deleteFrom('settings').where('name', 'in', names).execute()
    await trx
      .updateTable('webhooks')
      .set({
        ...{ secret: null, previous_secret: null, previous_until: null },
        ...{ paused: 1, reason: 'Its secret was discarded. Renew the secret, then resume.' },
      })
      .execute()
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
