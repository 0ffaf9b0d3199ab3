/**
 * Whether a provider's `id` or `sub` can identify a person: 1 to 255 printable ASCII characters
 * (OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters).
 */
export const isSubject = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 255 && /^[\x20-\x7e]+$/.test(value)

/**
 * Returns the person's name, truncated; null if the provider has none (GitHub's `name` may be
 * null). People choose their names, so line breaks and bidirectional controls are replaced by
 * spaces.
 */
export function nameOf(user: Readonly<Record<string, unknown>> | null): string | null {
  const names = [user?.name, user?.login, user?.preferred_username].map((value) =>
    typeof value === 'string' ? truncate(value.replace(NOT_PLAIN, ' ').trim()) : '',
  )
  return names.find((name) => name !== '') ?? null
}

const truncate = (name: string) => name.slice(0, 128).toWellFormed().trim()

const NOT_PLAIN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu
