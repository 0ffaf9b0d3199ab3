export const IMPORT_FORMATS = {
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson' },
  csv: { label: 'CSV', type: 'text/csv' },
  // Sent as NDJSON, so that a document that cannot be stored does not affect the others.
  json: { label: 'JSON', type: 'application/x-ndjson' },
} as const

export type ImportFormat = keyof typeof IMPORT_FORMATS

/** Shown instead of a preview if {@link detectFormat} finds no format. */
export const NO_TSV =
  'Tab-separated values cannot be imported. Convert them to CSV, or choose another format.'

/** Returns whether text is a JSON object over several lines. */
const isPrinted = (text: string) => /^\{(?:[^\n]*[,[{])?[ \t\r]*\n/.test(text)

/**
 * Returns the format of a source, from the name of its file and its first characters; undefined for
 * tab-separated values, which the server does not read.
 */
export function detectFormat(name: string, begin: string): ImportFormat | undefined {
  const text = begin.replace(/^\uFEFF/, '').trimStart()
  if (/\.tsv$/i.test(name)) return undefined
  if (/\.csv$/i.test(name)) return 'csv'
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson'
  if (text.startsWith('[') || isPrinted(text)) return 'json'
  if (text.startsWith('{') || /\.json$/i.test(name)) return 'ndjson'
  // Cells copied from a spreadsheet.
  const [header = ''] = text.split('\n', 1)
  return header.includes('\t') && !header.includes(',') ? undefined : 'csv'
}
