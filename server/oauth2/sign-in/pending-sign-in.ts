import type { Store } from '../storage/open.ts'
import type { Vault } from '../storage/vault.ts'
import { hashOf, SIGN_IN_SECONDS } from './csrf-token.ts'
import type { CallbackForm } from './provider-config.ts'

/** A sign-in under way, between its start and its callback. */
export interface PendingSignIn {
  readonly provider: string
  readonly form: CallbackForm
  /** What the provider was told. */
  readonly redirectUri: string
  /** What it is told at the exchange. */
  readonly exchangeUri: string
  /** Of PKCE (RFC 7636). */
  readonly verifier: string
  readonly nonce: string
  readonly returnTo: string
}

/** Keeps the sign-ins under way, for all nodes of a store. */
export interface PendingSignIns {
  /**
   * Keeps one under its token, of which only the hash is stored.
   *
   * @param supersedes the token of the one that it replaces.
   */
  keep(token: string, signIn: PendingSignIn, supersedes: string | undefined): Promise<void>
  /**
   * Deletes one and answers it: of many at once that ask, in whichever process, one gets it.
   * Undefined where there is none, it has expired, or was started at another provider.
   */
  take(token: string, provider: string): Promise<PendingSignIn | undefined>
}

/** Makes {@link PendingSignIns}; `now` tells ms since 1970. */
export function createPendingSignIns(
  { db }: Store,
  vault: Vault,
  now: () => number,
): PendingSignIns {
  const placeOf = (hash: string) => `sign_ins/${hash}`
  return {
    async keep(token, signIn, supersedes) {
      const hash = hashOf(token)
      const row = {
        hash,
        provider: signIn.provider,
        form: signIn.form,
        redirect_uri: signIn.redirectUri,
        exchange_uri: signIn.exchangeUri,
        verifier: vault.seal(signIn.verifier, placeOf(hash)),
        nonce: signIn.nonce,
        return_to: signIn.returnTo,
        expires_at: now() + SIGN_IN_SECONDS * 1000,
      }
      await db
        .deleteFrom('sign_ins')
        .where((eb) =>
          eb.or([
            eb('expires_at', '<=', now()),
            eb('hash', '=', supersedes === undefined ? '' : hashOf(supersedes)),
          ]),
        )
        .execute()
      await db.insertInto('sign_ins').values(row).execute()
    },

    async take(token, provider) {
      const hash = hashOf(token)
      const row = await db
        .deleteFrom('sign_ins')
        .where('hash', '=', hash)
        .where('provider', '=', provider)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined || row.expires_at <= now()) return undefined
      return {
        provider: row.provider,
        form: row.form as CallbackForm,
        redirectUri: row.redirect_uri,
        exchangeUri: row.exchange_uri,
        verifier: vault.open(row.verifier, placeOf(hash)),
        nonce: row.nonce ?? '',
        returnTo: row.return_to,
      }
    },
  }
}
