import { type ParseError, parse } from 'jsonc-parser'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { parseJson } from '../../../server/contract/json/parse-json.ts'

/** The text of a new document. */
export const NEW_DOCUMENT = '{\n  \n}'

/** Formats JSON over several lines. */
export const formatJson = (json: string): string => JSON.stringify(parseJson(json), null, 2)

/**
 * Removes whitespace between JSON tokens, because the server counts it towards the document's size.
 */
export const minifyJson = (json: string): string =>
  json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"?|\s+/gs, (part) => (part.startsWith('"') ? part : ''))

/** Returns whether a stored document is the one that was sent, whose id can be omitted. */
export function sameDocument(stored: string, sent: string): boolean {
  const document = parseJson(stored) as DocumentFields
  return sortedJson(document) === sortedJson({ id: document.id, ...(parseJson(sent) as object) })
}

/** Returns a canonical text: values that differ only in the order of fields have the same text. */
export const sortedJson = (json: unknown): string =>
  JSON.stringify(json, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/**
 * Returns why text is not a document; undefined if it is a JSON object. The server checks the rest.
 */
export function documentError(text: string): string | undefined {
  if (text.trim() === '') {
    return 'Enter a JSON object, such as { "title": "One" }'
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  } catch (error) {
    return formatSyntaxError(text, (error as Error).message)
  }
  return 'A document must be a JSON object, from { to }.'
}

/** Returns why text is not a schema; undefined if it is JSON. The server checks the rest. */
export function schemaError(text: string): string | undefined {
  if (text.trim() === '') return 'Enter a JSON object.'
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return formatSyntaxError(text, (error as Error).message)
  }
}

/** Returns the index of the first syntax error; undefined if the text is JSON. */
export function syntaxErrorAt(text: string): number | undefined {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true })
  return errors[0]?.offset
}

/** The position is the parser's; each browser reports the reason in its own words. */
function formatSyntaxError(text: string, message: string): string {
  const at = syntaxErrorAt(text)
  if (at === undefined) return `Invalid JSON. (${message})`
  const before = text.slice(0, at).split('\n')
  const [reason] = message
    .replace(/^JSON\.parse: /, '')
    .split(/ (?:in JSON )?at (?:position|line) /, 1)
  const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  return `Invalid JSON at ${where}. (${reason})`
}
