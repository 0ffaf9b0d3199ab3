import { parse } from 'csv-parse/browser/esm/sync'
import type { CsvSeparator } from '../../../server/contract/import.ts'
import { CsvReader } from '../../../server/contract/records/csv-reader.ts'

/** The first record of a CSV file. */
export interface CsvHead {
  readonly cells: readonly { readonly name: string; readonly isQuoted: boolean }[]
  readonly delimiter: string
  readonly emptyLines: number
  /** Where it begins and ends in the file, in bytes. */
  readonly start: number
  readonly end: number
}

/** Returns the header of a CSV file from its beginning; undefined if it cannot be read. */
export function readHead(begin: Uint8Array, separator: CsvSeparator): CsvHead | undefined {
  const reader = new CsvReader({ separator })
  const bytes = reader.skipPrologue(begin)
  const start = begin.length - bytes.length
  const { delimiter, record_delimiter } = reader.options
  try {
    const [head] = parse(bytes, {
      delimiter,
      record_delimiter,
      skip_empty_lines: true,
      to: 1,
      info: true,
      cast: (name, { quoting }) => ({ name, isQuoted: quoting }),
    }) as unknown as { record: CsvHead['cells']; info: { bytes: number; empty_lines: number } }[]
    if (head === undefined) return undefined
    const { bytes: length, empty_lines: emptyLines } = head.info
    return { cells: head.record, delimiter, emptyLines, start, end: start + length }
  } catch {
    // The import says why.
    return undefined
  }
}

/** Returns the names that can be chosen for the id; none if a column has that name. */
export function idCandidates(head: CsvHead | undefined): readonly string[] {
  const names = head?.cells.map(({ name }) => name.trim()).filter((name) => name !== '') ?? []
  return names.includes('id') ? [] : [...new Set(names)]
}

/** Returns a header with a column renamed to `id`, as long as the file is then read alike. */
export function renameToId(head: CsvHead, column: string): Uint8Array<ArrayBuffer> {
  const at = head.cells.findIndex(({ name }) => name.trim() === column)
  const names = head.cells.map(({ name, isQuoted }, index) => {
    if (index === at) return 'id'
    return isQuoted ? `"${name.replaceAll('"', '""')}"` : name
  })
  const line = `${'\n'.repeat(head.emptyLines)}${names.join(head.delimiter)}\n`
  return new TextEncoder().encode(line)
}
