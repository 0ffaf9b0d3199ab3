import type { DatabaseImportResult } from '../../../server/contract/transfer.ts'
import { describeImport } from '../../shared/import/describe-import.ts'
import { formatCount } from '../../ui/text/format-number.ts'

/** Returns the result of an import in words: "Documents of 2 collections: 3 created, 1 failed." */
export function describeDatabaseImport(result: DatabaseImportResult): string {
  const { collections, created, replaced, skipped, failed, errors } = result
  const counts =
    created + replaced + skipped + failed === 0
      ? 'The export contains no documents.'
      : `Documents of ${formatCount(collections)} ${collections === 1 ? 'collection' : 'collections'}: ${describeImport(result)}`
  // The errors of documents are counted as failed.
  const isUndefined = failed === 0 && errors.length > 0
  return isUndefined ? `${counts} Some schemas or indexes could not be stored.` : counts
}
