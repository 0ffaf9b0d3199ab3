/** A field and the value that it must have, or why a text is no such thing. */
export type ParsedFilter =
  | { readonly field: string; readonly value: string }
  | { readonly fault: string }

/** The parameters that the server has for itself. */
const RESERVED = ['limit', 'after']

/** Reads `author=ada`; the value is a text, or the JSON text of anything else: `age=36`. */
export function parseFilter(text: string): ParsedFilter {
  const at = text.indexOf('=')
  const field = text.slice(0, at).trim()
  if (at < 0 || field === '') {
    return { fault: 'Write a field, "=" and its value: author=ada.' }
  }
  if (RESERVED.includes(field)) return { fault: `The field ${field} cannot be filtered by.` }
  return { field, value: text.slice(at + 1).trim() }
}
