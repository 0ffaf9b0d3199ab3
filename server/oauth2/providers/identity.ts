/** What a provider gave for its own API. */
export interface ProviderTokens {
  readonly access: string
  readonly refresh: string | null
  /** When the access token ends, ms since 1970; null: the provider did not say. */
  readonly expires: number | null
}

/**
 * Who a provider says that somebody is. Provider, issuer and subject together are the identity:
 * never the e-mail address, and never the id alone.
 */
export interface Identity {
  /** As it stands in paths. */
  readonly provider: string
  /** The issuer, or the token endpoint of a provider without one. */
  readonly issuer: string
  /** The id at the provider. */
  readonly subject: string
  /** As the provider calls the person. */
  readonly name: string | null
  readonly tokens: ProviderTokens
  /** The fingerprint of the operator key that was given; null at every provider but the local one. */
  readonly operatorKey: string | null
}

/**
 * Whether a provider's `id` or `sub` can identify a person: 1 to 255 printable ASCII characters
 * (OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters).
 */
export const isSubject = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && /^[\x20-\x7e]+$/.test(value)

/** The tokens of an answer of a token endpoint (RFC 6749 §5.1); `now` in ms since 1970. */
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

/** Seconds: nothing longer is meant, and a longer one is no date. */
const YEAR = 366 * 24 * 60 * 60

/**
 * As the provider calls the person, cut; GitHub's `name` may be null. People choose it, so nothing in
 * it may break the line or turn the direction of what stands beside it.
 */
export function nameOf(user: Readonly<Record<string, unknown>> | null): string | null {
  const names = [user?.name, user?.login, user?.preferred_username].map((value) =>
    typeof value === 'string' ? cut(value.replace(NOT_PLAIN, ' ').trim()) : '',
  )
  return names.find((name) => name !== '') ?? null
}

const cut = (name: string) => name.slice(0, 128).toWellFormed().trim()

const NOT_PLAIN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu
