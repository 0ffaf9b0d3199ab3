import { formatCount } from '../../ui/text/format-number.ts'

export interface PageExtent {
  /** Number of documents on the page. */
  readonly size: number
  /** Number of documents on the pages before it; undefined if they are unknown. */
  readonly skipped: number | undefined
  /** Number of documents that match; undefined if they are not counted. */
  readonly total: number | undefined
}

/** Returns the documents of a page in words, such as "Documents 151–200 of 50,000". */
export function describePage({ size, skipped, total }: PageExtent): string {
  const of = total === undefined ? '' : ` of ${formatCount(total)}`
  if (skipped === undefined) {
    return `${formatCount(size)}${of} ${size === 1 && of === '' ? 'document' : 'documents'} on this page`
  }
  const [first, last] = [skipped + 1, skipped + size]
  // Documents that were created since then are not counted yet.
  const isCounted = total !== undefined && last <= total
  const range = size === 1 ? formatCount(first) : `${formatCount(first)}–${formatCount(last)}`
  return `${size === 1 ? 'Document' : 'Documents'} ${range}${isCounted ? of : ''}`
}
