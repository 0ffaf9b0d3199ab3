import { isStoreFailure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Vault } from '../storage/vault.ts'
import { type ProviderTokens, sealTokens } from './provider-tokens.ts'
import { IDLE } from './sessions.ts'

/** What {@link refreshTokens} works with. */
export interface RefreshDeps {
  readonly store: Store
  readonly vault: Vault
  readonly now: () => number
  /**
   * Asks a provider for new tokens (RFC 6749 §6). Rejects with the Failure `unavailable` where it
   * does not answer; any other rejection is its last word.
   */
  readonly refresh: (provider: string, refreshToken: string) => Promise<ProviderTokens>
}

/** Tokens are renewed this long before they end, ms. */
export const AHEAD = 2 * 60_000

/** So long one node has a session's tokens to itself while it asks the provider, ms. */
const CLAIM = 60_000

/** How many sessions one call looks at. */
const MOST = 50

/**
 * Renews the providers' tokens of sessions that are in use, where there is a refresh token and the
 * access token is about to end. Of several nodes one asks. A provider that is away is asked again
 * next time; one that says no is not, and the session goes on without its tokens: it is ours, not
 * the provider's.
 *
 * @returns how many were renewed.
 */
export async function refreshTokens(deps: RefreshDeps): Promise<number> {
  const { store, vault, now } = deps
  const due = await store.db
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select([
      'sessions.hash',
      'sessions.id',
      'sessions.person_id',
      'sessions.refresh_token',
      'sessions.token_expires_at',
      'people.provider',
    ])
    .where('sessions.refresh_token', 'is not', null)
    .where('sessions.token_expires_at', '<', now() + AHEAD)
    .where('sessions.expires_at', '>', now())
    .where('sessions.last_seen_at', '>', now() - IDLE)
    .limit(MOST)
    .execute()

  const renewed = await Promise.all(
    due.map(async ({ hash, id, person_id, refresh_token, token_expires_at, provider }) => {
      const claimed = await store.db
        .updateTable('sessions')
        .set({ token_expires_at: now() + AHEAD + CLAIM })
        .where('hash', '=', hash)
        .where('token_expires_at', '=', token_expires_at)
        .executeTakeFirst()
      if (claimed.numUpdatedRows === 0n) return false
      try {
        const old = vault.open(refresh_token ?? '', `sessions/${id}/refresh`)
        const fresh = await deps.refresh(provider, old)
        await keep(store, vault, { hash, id, person: person_id }, old, fresh)
        return true
      } catch (error) {
        if (isStoreFailure(error)) return false
        await store.db
          .updateTable('sessions')
          .set({ access_token: null, refresh_token: null, token_expires_at: null })
          .where('hash', '=', hash)
          .execute()
        return false
      }
    }),
  )
  return renewed.filter(Boolean).length
}

/** Stores new tokens with the session and with the person. */
async function keep(
  store: Store,
  vault: Vault,
  { hash, id, person }: { hash: string; id: string; person: string },
  old: string,
  fresh: ProviderTokens,
): Promise<void> {
  // A provider that gives no new refresh token means the old one to be used again.
  const tokens = { ...fresh, refresh: fresh.refresh ?? old }
  await store.change(async (trx) => {
    await trx
      .updateTable('sessions')
      .set(sealTokens(vault, `sessions/${id}`, tokens))
      .where('hash', '=', hash)
      .execute()
    await trx
      .updateTable('people')
      .set(sealTokens(vault, `people/${person}`, tokens))
      .where('id', '=', person)
      .execute()
  })
}
