import {
  IMPORT_ERRORS,
  type ImportError,
  type ImportResult,
} from '../../../server/contract/import.ts'
import { createUpload } from '../../api/fetch-upload.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import type { ImportControl } from './use-import.ts'

/** Returns the counts of an import of documents in words: "12 created, 3 failed." */
export function describeImport({ created, replaced, skipped, failed }: ImportResult): string {
  const counts = { created, replaced, skipped, failed }
  if (created + replaced + skipped + failed === 0) return 'The source contains no documents.'
  const parts = Object.entries(counts).filter(([what, count]) => what === 'created' || count > 0)
  return `${parts.map(([what, count]) => `${formatCount(count)} ${what}`).join(', ')}.`
}

/** The words of every import of documents. */
export const DOCUMENT_WORDS = {
  progress: 'Importing documents',
  kept: 'documents that are already stored are kept',
} as const

/** Returns the errors of an import of documents, as `ImportOutcome` lists them. */
export const listErrors = (errors: readonly ImportError[], unit: 'Line' | 'Document') => ({
  errors,
  listed: ({ line, pointer, message }: ImportError) => ({
    where: `${unit} ${line}`,
    path: pointer,
    message,
  }),
  note: errors.length === IMPORT_ERRORS && `Only the first ${IMPORT_ERRORS} errors are listed.`,
})

/** Returns a function like `fetch` that sends the source of an import. */
export const createImportUpload = ({ signal, onProgress }: ImportControl) =>
  createUpload(
    (fraction) =>
      onProgress(
        // The server reports how many documents it has stored only at the end.
        fraction >= 1
          ? { fraction: undefined, text: 'The file was sent. Documents are still being stored.' }
          : { fraction, text: `${Math.floor(fraction * 100)} % sent.` },
      ),
    signal,
  )
