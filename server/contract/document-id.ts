import { ID_LENGTH } from './document.ts'
import type { Json } from './json/json.ts'

/** Returns why a value cannot be the id of a document; undefined if it can. */
export function documentIdError(value: Json): string | undefined {
  if (typeof value !== 'string') return 'An id is a string.'
  // A character has at most two code units, so a longer text need not be counted.
  if (value === '' || value.length > 2 * ID_LENGTH || [...value].length > ID_LENGTH) {
    return `An id has 1 to ${ID_LENGTH} characters.`
  }
  if (!value.isWellFormed()) return 'An id cannot contain a lone surrogate.'
  if (value.includes('\0')) return 'An id cannot contain the character U+0000.'
  // Dot segments change the path, encoded or not (RFC 3986 §5.2.4).
  if (value !== '.' && value !== '..') return undefined
  return `The id cannot be ${JSON.stringify(value)}, because a URL would not lead to the document.`
}
