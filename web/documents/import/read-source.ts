export const IMPORT_FORMATS = {
  ndjson: { label: 'NDJSON', type: 'application/x-ndjson' },
  csv: { label: 'CSV', type: 'text/csv' },
  // Sent as NDJSON, so that a document that cannot be stored does not affect the others.
  json: { label: 'JSON array', type: 'application/x-ndjson' },
} as const

export type ImportFormat = keyof typeof IMPORT_FORMATS

/** Returns the format of a file, from its name and its first characters. */
export function detectFormat(name: string, begin: string): ImportFormat {
  const text = begin.replace(/^\uFEFF/, '').trimStart()
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv'
  if (/\.(?:ndjson|jsonl)$/i.test(name)) return 'ndjson'
  if (text.startsWith('[')) return 'json'
  return text.startsWith('{') || /\.json$/i.test(name) ? 'ndjson' : 'csv'
}
