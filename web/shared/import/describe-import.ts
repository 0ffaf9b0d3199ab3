import type { ImportResult } from '../../../server/contract/import.ts'
import { formatCount } from '../ui/text/format-number.ts'

/** Returns the counts of an import in words: "12 created, 3 failed." */
export function describeImport({ created, replaced, skipped, failed }: ImportResult): string {
  const counts = { created, replaced, skipped, failed }
  if (created + replaced + skipped + failed === 0) return 'The source contains no documents.'
  const parts = Object.entries(counts).filter(([what, count]) => what === 'created' || count > 0)
  return `${parts.map(([what, count]) => `${formatCount(count)} ${what}`).join(', ')}.`
}
