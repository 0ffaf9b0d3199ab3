import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { tabStorage } from '../../shared/browser-storage.ts'
import { IconChevronLeft, IconChevronRight } from '../../ui/icon/icons.tsx'
import { PrintNote } from '../../ui/table/printed-rows.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import type { PagePosition } from '../data-search.ts'
import { PAGE_SIZE } from '../document-requests.ts'
import { formatDocuments } from '../mutations/describe-outcome.ts'
import { countQuery, useKnownCount } from '../queries.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import classes from './pager.module.css'

export interface PagerProps {
  readonly collectionRef: CollectionRef
  /** Number of documents on the page; undefined while another page is loading. */
  readonly size: number | undefined
  /** Where the next page begins. */
  readonly next: PagePosition | undefined
  readonly loading: boolean
}

/**
 * Buttons for the previous and next page. The server supplies only the next cursor, so the
 * component remembers the pages on the way to this one, also after a reload.
 */
export function Pager({ collectionRef, size, next, loading }: PagerProps) {
  const { database, collection, search, page } = useDataLocation()
  const { filter, sort, after, cursor } = search
  // The number that is shown above the table, if the documents are counted.
  const { data: counted } = useQuery({ ...countQuery(collectionRef, filter), enabled: false })
  const known = useKnownCount(collectionRef)
  const total = search.count === undefined ? known : counted
  const isFirst = after === undefined && cursor === undefined
  if (isFirst && next === undefined && !loading) {
    if (known === undefined || search.count !== undefined || size === undefined) return null
    return <p className={classes.position}>{formatDocuments(size)}</p>
  }
  const list = JSON.stringify([database, collection, filter, sort])
  const trail = readTrail(list)
  const now = JSON.stringify([after, cursor])
  const at = trail.findIndex((each) => JSON.stringify([each.after, each.cursor]) === now)
  const [first = {}] = trail
  const isFromFirst = first.after === undefined && first.cursor === undefined
  const previous = at > 0 ? trail[at - 1] : undefined
  const goBack = () => {
    if (!isFirst) page(previous ?? {})
  }
  const goOn = () => {
    if (next === undefined) return
    const before = at < 0 ? [{ after, cursor }] : trail.slice(0, at + 1)
    // If it cannot be stored, the first page can still be reached.
    tabStorage.set(keyOf(list), JSON.stringify([...before, next]))
    page(next)
  }
  return (
    <nav aria-label="Pages" className={classes.pager} data-quiet={loading || undefined}>
      <Button
        variant="default"
        leftSection={<IconChevronLeft />}
        aria-disabled={isFirst || undefined}
        onClick={goBack}
      >
        {isFirst || previous !== undefined ? 'Previous' : 'First page'}
      </Button>
      <Button
        variant="default"
        rightSection={<IconChevronRight />}
        aria-disabled={next === undefined || undefined}
        onClick={goOn}
      >
        Next
      </Button>
      {size !== undefined && size > 0 && (
        <p className={classes.position}>
          {describePage({
            size,
            skipped: isFirst ? 0 : at > 0 && isFromFirst ? at * PAGE_SIZE : undefined,
            total,
          })}
        </p>
      )}
      {next !== undefined && <PrintNote>The documents that follow are not printed.</PrintNote>}
    </nav>
  )
}

const keyOf = (list: string) => `gatehouse-pages ${list}`

/** Returns the pages of a list that were visited one after another in this tab. */
const readTrail = (list: string) =>
  (tabStorage.getJson(keyOf(list)) ?? []) as readonly PagePosition[]

interface PageExtent {
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
