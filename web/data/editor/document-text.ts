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
