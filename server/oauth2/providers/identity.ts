/** Tokens that a provider issued for its own API. */
export interface ProviderTokens {
  readonly access: string
  readonly refresh: string | null
  /** Expiry of the access token, ms since 1970; null if the provider did not state it. */
  readonly expires: number | null
}

/**
 * A person as identified by a provider. Provider, issuer and subject together are the identity. The
 * email address and the id alone are not.
 */
export interface Identity {
  /** Name of the provider, as in paths. */
  readonly provider: string
  /** The issuer, or the token endpoint of a provider without an issuer. */
  readonly issuer: string
  /** The person's id at the provider. */
  readonly subject: string
  /** The person's name at the provider. */
  readonly name: string | null
  readonly tokens: ProviderTokens
  /**
   * Fingerprint of the operator key that was entered; null for all providers except the local one.
   */
  readonly operatorKey: string | null
}

/**
 * Whether a provider's `id` or `sub` can identify a person: 1 to 255 printable ASCII characters
 * (OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters).
 */
export const isSubject = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && /^[\x20-\x7e]+$/.test(value)

/**
 * Returns the tokens of a token endpoint's response (RFC 6749 §5.1).
 *
 * @param now the time, ms since 1970.
 */
export function tokensOf(
  answer: {
    readonly access_token: string
    readonly refresh_token?: unknown
    readonly expires_in?: unknown
  },
  now: number,
): ProviderTokens {
  const seconds = Number(answer.expires_in)
  const { refresh_token: refresh } = answer
  return {
    access: answer.access_token,
    refresh: typeof refresh === 'string' && refresh !== '' ? refresh : null,
    expires: Number.isFinite(seconds) && seconds > 0 ? now + Math.min(seconds, YEAR) * 1000 : null,
  }
}

/**
 * Maximum lifetime of an access token, s. A larger `expires_in` could exceed the range of dates.
 */
const YEAR = 366 * 24 * 60 * 60

/**
 * Returns the person's name, truncated; null if the provider has none (GitHub's `name` may be
 * null). People choose their names, so line breaks and bidirectional controls are replaced by
 * spaces.
 */
export function nameOf(user: Readonly<Record<string, unknown>> | null): string | null {
  const names = [user?.name, user?.login, user?.preferred_username].map((value) =>
    typeof value === 'string' ? cut(value.replace(NOT_PLAIN, ' ').trim()) : '',
  )
  return names.find((name) => name !== '') ?? null
}

const cut = (name: string) => name.slice(0, 128).toWellFormed().trim()

const NOT_PLAIN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu
