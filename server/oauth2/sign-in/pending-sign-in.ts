import * as z from 'zod/mini'
import { CALLBACK_FORMS, type CallbackForm } from '../../contract/access/provider.ts'
import { invariant } from '../../contract/invariant.ts'
import { hashSecret } from '../../secret.ts'
import { parseColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { Vault } from '../../storage/vault.ts'

/** Maximum duration of a sign-in and of its cookie, seconds (docs/sign-in.md, "The flow"). */
export const SIGN_IN_SECONDS = 300

/** A sign-in between its start and its callback. */
export interface PendingSignIn {
  readonly provider: string
  readonly form: CallbackForm
  /** `redirect_uri` of the authorization request. */
  readonly redirectUri: string
  /** `redirect_uri` of the token request. */
  readonly exchangeUri: string
  /** PKCE verifier (RFC 7636). */
  readonly verifier: string
  readonly nonce: string
  readonly returnTo: string
  /** Revision of the managed provider at the start; 0 for other providers. */
  readonly revision: number
  /** The id of the invitation to accept. */
  readonly invitation: string | null
  /** The id of the test, which makes no session. */
  readonly test: string | null
}

/** Stores the sign-ins in progress, shared by all nodes of a store. */
export interface PendingSignIns {
  /**
   * Stores a sign-in under the hash of its token.
   *
   * @param supersedes tokens of sign-ins that this one replaces.
   */
  keep(token: string, signIn: PendingSignIn, supersedes?: readonly string[]): Promise<void>
  /**
   * Deletes a sign-in and returns it. Of concurrent calls in any process, only one gets it. Returns
   * undefined if the sign-in does not exist, has expired or was started at another provider.
   */
  take(token: string, provider: string): Promise<PendingSignIn | undefined>
  /** Returns the id of the test that a sign-in in progress belongs to. */
  testOf(token: string, provider: string): Promise<string | null>
}

/**
 * Creates the {@link PendingSignIns} of a store.
 *
 * @param now returns the time, ms since 1970.
 */
export function createPendingSignIns(
  { db }: Store,
  vault: Vault,
  now: () => number,
): PendingSignIns {
  const placeOf = (hash: string) => `sign_ins/${hash}`
  return {
    async keep(token, signIn, supersedes = []) {
      const hash = hashSecret(token)
      const row = {
        hash,
        provider: signIn.provider,
        form: signIn.form,
        redirect_uri: signIn.redirectUri,
        exchange_uri: signIn.exchangeUri,
        verifier: vault.encrypt(signIn.verifier, placeOf(hash)),
        nonce: signIn.nonce,
        return_to: signIn.returnTo,
        provider_revision: signIn.revision,
        invitation: signIn.invitation,
        test: signIn.test,
        expires_at: now() + SIGN_IN_SECONDS * 1000,
      }
      await db
        .deleteFrom('sign_ins')
        .where((eb) =>
          eb.or([
            eb('expires_at', '<=', now()),
            ...supersedes.map((old) => eb('hash', '=', hashSecret(old))),
          ]),
        )
        .execute()
      await db.insertInto('sign_ins').values(row).execute()
    },

    async take(token, provider) {
      const hash = hashSecret(token)
      const row = await db
        .deleteFrom('sign_ins')
        .where('hash', '=', hash)
        .where('provider', '=', provider)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined || row.expires_at <= now()) return undefined
      invariant(row.nonce, 'every sign-in is stored with a nonce')
      return {
        provider: row.provider,
        form: parseColumn(z.enum(CALLBACK_FORMS), 'sign_ins.form', row.form),
        redirectUri: row.redirect_uri,
        exchangeUri: row.exchange_uri,
        verifier: vault.decrypt(row.verifier, placeOf(hash)),
        nonce: row.nonce,
        returnTo: row.return_to,
        revision: row.provider_revision,
        invitation: row.invitation,
        test: row.test,
      }
    },

    async testOf(token, provider) {
      const row = await db
        .selectFrom('sign_ins')
        .select('test')
        .where('hash', '=', hashSecret(token))
        .where('provider', '=', provider)
        .executeTakeFirst()
      return row?.test ?? null
    },
  }
}
