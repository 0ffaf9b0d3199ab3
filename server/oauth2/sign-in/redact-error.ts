const REDACTED = '[redacted]'

/**
 * Maximum length of a text that is searched for secrets, in characters. A longer one is redacted as
 * a whole: the time of the search grows with the product of the lengths of text and secret.
 */
const MAX_SEARCHED = 8 * 1024

/** Secrets of fewer characters are redacted only as whole words, since parts of words match them. */
const MIN_PART = 8

/** Returns a function that redacts secrets in a text, in all spellings in which they were sent. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
    ])
  if (spellings.length === 0) return (text) => text
  const patterns = [...new Set(spellings)]
    // Longest first: one may be a prefix of another.
    .sort((a, b) => b.length - a.length)
    .map((each) => {
      const pattern = RegExp.escape(each)
      return each.length < MIN_PART ? `(?<!\\w)${pattern}(?!\\w)` : pattern
    })
  const any = new RegExp(patterns.join('|'), 'g')
  return (text) => (text.length > MAX_SEARCHED ? REDACTED : text.replaceAll(any, REDACTED))
}

/**
 * Returns a copy of an `oauth4webapi` error that is safe to log. The cause of the original holds
 * the server's response, which may repeat secrets. The copy keeps messages, stacks and the fields
 * of an OAuth error (RFC 6749 §5.2), redacted.
 */
export function redactError(thrown: unknown, hide: (text: string) => string, depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 3) return undefined
  const cause = redactError(thrown.cause, hide, depth + 1)
  const redacted = new Error(hide(thrown.message), cause === undefined ? undefined : { cause })
  redacted.name = thrown.name
  redacted.stack = hide(thrown.stack ?? '')
  for (const field of ['code', 'status', 'error', 'error_description'] as const) {
    const value = (thrown as Error & Partial<Record<typeof field, unknown>>)[field]
    if (typeof value === 'number') Object.assign(redacted, { [field]: value })
    if (typeof value === 'string') Object.assign(redacted, { [field]: hide(value).slice(0, 200) })
  }
  return redacted
}
