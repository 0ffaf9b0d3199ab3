/** Fields with required values, or why the filter is invalid. */
export type ParsedFilter =
  | { readonly fields: readonly (readonly [field: string, value: string])[] }
  | { readonly error: string }

/** Parameters of pages. With an operator, they name fields like any other. */
const PARAMETERS = ['limit', 'after', 'sort', 'fields', 'cursor']

/**
 * Parses a filter such as `author=ada` or `year:gte=2000`, with `&` between several fields. The server
 * accepts a value as text or as JSON, such as `age=36`. Write `%26` for a `&` in a value.
 */
export function parseFilter(text: string): ParsedFilter {
  const fields: [string, string][] = []
  for (const part of text.split('&')) {
    const at = part.indexOf('=')
    const field = plain(part.slice(0, at))
    if (at < 0 || field === '') {
      return {
        error: 'Enter a field, “=” and a value, such as author=ada. Separate several with “&”.',
      }
    }
    const name = PARAMETERS.includes(field) ? `${field}:eq` : field
    fields.push([name, plain(part.slice(at + 1))])
  }
  return { fields }
}

const plain = (text: string): string => text.trim().replaceAll('%26', '&')
