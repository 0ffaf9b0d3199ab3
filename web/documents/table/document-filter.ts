/** Fields with the values that they must have, or why a text is no such thing. */
export type ParsedFilter =
  | { readonly fields: readonly (readonly [field: string, value: string])[] }
  | { readonly fault: string }

/** The parameters that the server has for itself. */
const RESERVED = ['limit', 'after']

/**
 * Reads `author=ada`, several with `&` between them; a value is a text, or the JSON text of anything
 * else: `age=36`. A `&` in a value is written `%26`.
 */
export function parseFilter(text: string): ParsedFilter {
  const fields: [string, string][] = []
  for (const part of text.split('&')) {
    const at = part.indexOf('=')
    const field = plain(part.slice(0, at))
    if (at < 0 || field === '') {
      return { fault: 'Write a field, “=” and its value: author=ada. Put “&” between several.' }
    }
    if (RESERVED.includes(field)) return { fault: `The field ${field} cannot be filtered by.` }
    fields.push([field, plain(part.slice(at + 1))])
  }
  return { fields }
}

const plain = (text: string): string => text.trim().replaceAll('%26', '&')
