/** The text of a value in a cell, and how to show it. */
export interface CellText {
  readonly text: string
  readonly kind: 'missing' | 'text' | 'number' | 'json'
}

/** Maximum number of characters, more than the widest column shows. */
const MAX_CHARACTERS = 200

/** Returns the text of a value. Strings are shown on one line, all other values as JSON. */
export function formatCell(value: unknown): CellText {
  if (value === undefined) return { text: '–', kind: 'missing' }
  if (typeof value === 'string') return { text: toLine(shorten(value)), kind: 'text' }
  return {
    text: shorten(JSON.stringify(value)),
    kind: typeof value === 'number' ? 'number' : 'json',
  }
}

/** Returns text with each line break and tab as a space, so that it keeps the height of a row. */
export const toLine = (text: string): string => text.replace(/\r\n|[\n\r\t\v\f\u2028\u2029]/g, ' ')

const shorten = (text: string) =>
  // Do not cut a surrogate pair in half.
  text.length > MAX_CHARACTERS
    ? `${text.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text
