import type { CsvSeparator } from '../../../server/contract/import.ts'

/** A format that can be imported. */
interface FormatOptions {
  readonly label: string
  /** The media type of the request. */
  readonly type: string
  /** Undefined if the format is not CSV. */
  readonly separator?: CsvSeparator
}

const FORMATS = {
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson' },
  csv: { label: 'CSV', type: 'text/csv', separator: 'comma' },
  semicolons: { label: 'CSV with semicolons', type: 'text/csv', separator: 'semicolon' },
  tabs: { label: 'Tab-separated values', type: 'text/csv', separator: 'tab' },
  // Sent as NDJSON, so that a document that cannot be stored does not affect the others.
  json: { label: 'JSON', type: 'application/x-ndjson' },
} as const satisfies Record<string, FormatOptions>

export type ImportFormat = keyof typeof FORMATS

export const IMPORT_FORMATS: Readonly<Record<ImportFormat, FormatOptions>> = FORMATS

/** Returns whether text is a JSON object over several lines. */
const isPrinted = (text: string) => /^\{(?:[^\n]*[,[{])?[ \t\r]*\n/.test(text)

/** Returns the format of a source, from the name of its file and its first characters. */
export function detectFormat(name: string, begin: string): ImportFormat {
  const text = begin.replace(/^\uFEFF/, '').trimStart()
  if (/\.tsv$/i.test(name)) return 'tabs'
  if (/\.csv$/i.test(name)) return detectSeparator(text)
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson'
  if (text.startsWith('[') || isPrinted(text)) return 'json'
  if (text.startsWith('{') || /\.json$/i.test(name)) return 'ndjson'
  return detectSeparator(text)
}

/** Returns the format of CSV whose separator is the most frequent one of its header. */
function detectSeparator(text: string): ImportFormat {
  const [header = ''] = text.replace(/"[^"]*"/g, '').split('\n', 1)
  const count = (separator: string) => header.split(separator).length
  const [commas, semicolons, tabs] = [count(','), count(';'), count('\t')]
  if (tabs > commas && tabs > semicolons) return 'tabs'
  return semicolons > commas ? 'semicolons' : 'csv'
}
