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
 * accepted only if the store holds no provider tokens and no keys of certificates.
 *
 * @param given the key from the environment.
 * @throws Failure `unavailable` if the key is missing or differs, and the store holds such secrets.
 */
export async function requireSecretKey(
  store: Store,
  data: string,
  given: Uint8Array | undefined,
): Promise<void> {
  // Tokens of the local provider are not used after the sign-in.
  const tokens = store.db
    .selectFrom('people')
    .select('access_token as secret')
    .where('provider', '<>', OPERATOR.provider)
    .where('access_token', 'is not', null)
    .limit(1)
  const certificates = store.db
    .selectFrom('certificates')
    .select('secret')
    .where('secret', 'is not', null)
    .limit(1)
  const isEncrypted =
    (await tokens.executeTakeFirst()) !== undefined ||
    (await certificates.executeTakeFirst()) !== undefined
  if (!isEncrypted) return
  const key = findSecretKey(data, given)
  if (key !== undefined) {
    const pattern = `${createVault(key).prefix}%`
    const withThisKey =
      (await tokens.where('access_token', 'like', pattern).executeTakeFirst()) ??
      (await certificates.where('secret', 'like', pattern).executeTakeFirst())
    if (withThisKey !== undefined) return
  }
  const file = join(data, SECRET_KEY_FILE)
  const wrong =
    key === undefined
      ? `the file of the key that encrypted them, ${file}, is missing: restore it`
      : `${given === undefined ? file : 'GATEHOUSE_SECRET_KEY'} is not the key that encrypted them: provide the original key`
  throw new Failure(
    'unavailable',
    `The database contains provider tokens or keys of certificates, and ${wrong}, or run ` +
      '"gatehouse secrets discard" to delete them.',
  )
}

/**
 * Deletes everything that the secret key encrypts: provider tokens, sign-ins in progress, and
 * certificates with their keys. Sessions and API tokens stay valid.
 */
export function discardSecrets(store: Store, record: Recorder, actor: Actor): Promise<void> {
  const none = { access_token: null }
  return store.change(async (trx) => {
    await trx.updateTable('people').set(none).execute()
    await trx.updateTable('sessions').set(none).execute()
    await trx.deleteFrom('sign_ins').execute()
    await trx.deleteFrom('local_provider').execute()
    await trx.deleteFrom('certificates').where('secret', 'is not', null).execute()
    await trx.deleteFrom('settings').where('name', '=', 'certificate-authority').execute()
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
