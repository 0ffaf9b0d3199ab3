export interface ListFormat {
  readonly conjunction?: 'and' | 'or'
  /** Maximum number of names; the rest is only counted. Default: no limit. */
  readonly max?: number
}

/** Formats a list: "a", "a and b", "a, b and c"; with a `max`, "a, b, c and 12 more". */
export function formatList(
  names: readonly string[],
  { conjunction = 'and', max = Number.POSITIVE_INFINITY }: ListFormat = {},
): string {
  const more = names.length - max
  // "1 more" would be no shorter than the last name.
  const parts = more > 1 ? [...names.slice(0, max), `${more} more`] : names
  if (parts.length < 2) return parts.join('')
  return `${parts.slice(0, -1).join(', ')} ${conjunction} ${parts.at(-1)}`
}
