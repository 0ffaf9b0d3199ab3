/** Maximum number of names listed; the rest is only counted. */
const MAX_NAMES = 3

/** Formats a list: "a", "a and b", "a, b, c and 12 more". */
export function formatList(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  if (names.length > MAX_NAMES + 1) {
    return `${names.slice(0, MAX_NAMES).join(', ')} ${word} ${names.length - MAX_NAMES} more`
  }
  if (names.length < 2) return names.join('')
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}
