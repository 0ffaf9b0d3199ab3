import { Failure } from '../../failure.ts'
import type { CsvSeparator, CsvTypes } from '../import.ts'

export type ImportFormat = 'ndjson' | 'csv'

/** A document of an import as JSON, or why it cannot be read. */
export type ImportRecord =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly failure: Failure }

export interface CsvOptions {
  /** Default: comma. The first line of a file may name another one. */
  readonly separator?: CsvSeparator | undefined
  /** Default: auto. */
  readonly types?: CsvTypes
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Failure `bad-json` if the bytes are not UTF-8 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Failure('bad-json', 'The line is not UTF-8. Save the file as UTF-8.', { cause })
  }
}
