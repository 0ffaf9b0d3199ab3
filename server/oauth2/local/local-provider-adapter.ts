import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import * as z from 'zod/mini'
import { hashSecret } from '../../secret.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { Vault } from '../../storage/vault.ts'

/**
 * State of the local provider, shared by all nodes of a store. Entries last no longer than a
 * sign-in.
 */
export interface LocalProviderStore {
  readonly adapter: AdapterFactory
  /** Deletes the state of a completed sign-in: its session, grant and tokens. */
  end(accessToken: string): Promise<void>
}

/** The fields belong to oidc-provider, which checks them. */
const storedPayload: z.ZodMiniType<AdapterPayload> = z.looseObject({})

/** Ends all sign-ins in progress at the local provider, on all nodes. */
export async function endLocalSignIns({ db }: Store): Promise<void> {
  await db.deleteFrom('local_provider').execute()
}

/**
 * Creates a {@link LocalProviderStore}. Ids are secrets here: only their hashes are stored. The
 * data is encrypted.
 *
 * @param now returns the time, ms since 1970.
 */
export function createLocalProviderStore(
  { db }: Store,
  vault: Vault,
  now: () => number,
): LocalProviderStore {
  const keyOf = (kind: string, id: string) => `${kind}/${hashSecret(id)}`
  const placeOf = (key: string) => `local_provider/${key}`

  const read = (row: { key: string; payload: string; consumed_at: number | null } | undefined) => {
    if (row === undefined) return undefined
    const text = vault.decrypt(row.payload, placeOf(row.key))
    const payload = parseJsonColumn(storedPayload, 'local_provider.payload', text)
    return row.consumed_at === null
      ? payload
      : { ...payload, consumed: Math.floor(row.consumed_at / 1000) }
  }
  const unexpired = () =>
    db
      .selectFrom('local_provider')
      .select(['key', 'payload', 'consumed_at'])
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now())]))

  const find = async (kind: string, id: string) =>
    read(await unexpired().where('key', '=', keyOf(kind, id)).executeTakeFirst())

  const adapter = (kind: string): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const key = keyOf(kind, id)
      const values = {
        payload: vault.encrypt(JSON.stringify(payload), placeOf(key)),
        uid: payload.uid === undefined ? null : hashSecret(payload.uid),
        grant_id: payload.grantId === undefined ? null : hashSecret(payload.grantId),
        expires_at: expiresIn === undefined ? null : now() + expiresIn * 1000,
      }
      await db.deleteFrom('local_provider').where('expires_at', '<=', now()).execute()
      await db
        .insertInto('local_provider')
        .values({ key, consumed_at: null, ...values })
        .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
        .execute()
    },
    find: (id) => find(kind, id),
    async findByUid(uid) {
      return read(
        await unexpired()
          .where('key', 'like', `${kind}/%`)
          .where('uid', '=', hashSecret(uid))
          .executeTakeFirst(),
      )
    },
    async findByUserCode() {
      throw new Error('the local provider has no device flow')
    },
    async consume(id) {
      await db
        .updateTable('local_provider')
        .set({ consumed_at: now() })
        .where('key', '=', keyOf(kind, id))
        .execute()
    },
    async destroy(id) {
      await db.deleteFrom('local_provider').where('key', '=', keyOf(kind, id)).execute()
    },
    async revokeByGrantId(grantId) {
      await db.deleteFrom('local_provider').where('grant_id', '=', hashSecret(grantId)).execute()
    },
  })

  return {
    adapter,
    async end(accessToken) {
      const { grantId = '', sessionUid = '' } = (await find('AccessToken', accessToken)) ?? {}
      await db
        .deleteFrom('local_provider')
        .where((eb) =>
          eb.or([
            eb('grant_id', '=', hashSecret(grantId)),
            eb('uid', '=', hashSecret(sessionUid)),
            eb('key', '=', keyOf('Grant', grantId)),
          ]),
        )
        .execute()
    },
  }
}
