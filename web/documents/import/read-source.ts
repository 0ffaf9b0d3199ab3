import { BULK_BYTES } from '../../../server/contract/document.ts'
import { minifyJson } from '../editor/document-text.ts'

export const IMPORT_FORMATS = {
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson' },
  csv: { label: 'CSV', type: 'text/csv' },
  // Sent as NDJSON, so that a document that cannot be stored does not affect the others.
  json: { label: 'JSON array', type: 'application/x-ndjson' },
} as const

export type ImportFormat = keyof typeof IMPORT_FORMATS

/** Maximum size of a JSON array, which the browser splits into documents, bytes: 64 MiB. */
export const MAX_ARRAY_BYTES = BULK_BYTES

/** Returns the format of a file, from its name and its first characters. */
export function detectFormat(name: string, begin: string): ImportFormat {
  const text = begin.replace(/^\uFEFF/, '').trimStart()
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv'
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson'
  if (text.startsWith('[')) return 'json'
  return text.startsWith('{') || /\.json$/i.test(name) ? 'ndjson' : 'csv'
}

/**
 * Splits a JSON array into the texts of its elements, each on one line. Elements are not checked;
 * the server reports those that are not JSON.
 *
 * @returns undefined if the text does not begin with `[`.
 */
export function splitArray(text: string): readonly string[] | undefined {
  const begin = /^[\uFEFF\s]*\[/.exec(text)
  if (begin === null) return undefined
  const elements: string[] = []
  let [from, depth] = [begin[0].length, 0]
  const add = (to: number) => {
    const element = minifyJson(text.slice(from, to))
    if (element !== '') elements.push(element.replace(/[\r\n]/g, ' '))
    from = to + 1
  }
  let at = from
  for (; at < text.length && depth >= 0; at++) {
    const character = text.charAt(at)
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    else if (character === ',' && depth === 0) add(at)
  }
  add(depth < 0 ? at - 1 : at)
  return elements
}

/** Returns the index of the quote that ends a string. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === '"') return at
  }
  return text.length
}

/** Returns the body of an import request. */
export async function toImportBody(source: Blob, format: ImportFormat): Promise<Blob> {
  if (format !== 'json') return source
  const elements = splitArray(await source.text()) ?? []
  return new Blob(elements.map((element) => `${element}\n`))
}
