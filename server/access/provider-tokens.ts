import type { Vault } from '../storage/vault.ts'

/** What a provider gave for its own API. */
export interface ProviderTokens {
  readonly access: string
  readonly refresh: string | null
  /** When the access token ends, ms since 1970; null: the provider did not say. */
  readonly expires: number | null
}

/**
 * The columns in which a row keeps a provider's tokens, encrypted for that row alone.
 *
 * @param place of the row, such as `sessions/<id>`.
 */
export const sealTokens = (vault: Vault, place: string, tokens: ProviderTokens) => ({
  access_token: vault.seal(tokens.access, `${place}/access`),
  refresh_token: tokens.refresh && vault.seal(tokens.refresh, `${place}/refresh`),
  token_expires_at: tokens.expires,
})
