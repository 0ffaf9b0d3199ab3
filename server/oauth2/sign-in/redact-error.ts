/** What stands in the place of a secret. */
const HIDDEN = '[redacted]'

/** Hides secrets in a text of others, in each spelling in which they were sent. */
export function createHide(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
    ])
    .sort((a, b) => b.length - a.length)
  return (text) => spellings.reduce((rest, each) => rest.replaceAll(each, HIDDEN), text)
}

/**
 * An error of `oauth4webapi`, as far as the log may have it: its cause holds what a server answered,
 * and a server may answer what it was sent, secrets too. Of the answer only the fields of an OAuth
 * error are left (RFC 6749 §5.2), without the secrets.
 */
export function toldError(thrown: unknown, hide: (text: string) => string, depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 3) return undefined
  const cause = toldError(thrown.cause, hide, depth + 1)
  const told = new Error(hide(thrown.message), cause === undefined ? undefined : { cause })
  told.name = thrown.name
  told.stack = hide(thrown.stack ?? '')
  for (const field of ['code', 'status', 'error', 'error_description'] as const) {
    const value = (thrown as Error & Partial<Record<typeof field, unknown>>)[field]
    if (typeof value === 'number') Object.assign(told, { [field]: value })
    if (typeof value === 'string') Object.assign(told, { [field]: hide(value).slice(0, 200) })
  }
  return told
}
