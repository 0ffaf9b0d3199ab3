import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '../../shared/ui/icon/icons.tsx'
import { PrintNote } from '../../shared/ui/print/printed-rows.tsx'
import type { PagePosition } from '../documents-search.ts'
import { useDocumentsLocation } from '../use-documents-location.ts'
import classes from './pager.module.css'

export interface PagerProps {
  /** Where the next page begins. */
  readonly next: PagePosition | undefined
  readonly loading: boolean
}

/**
 * Buttons for the previous and next page. The server supplies only the next cursor, so the
 * component remembers the pages on the way to this one, also after a reload.
 */
export function Pager({ next, loading }: PagerProps) {
  const { database, collection, search, page } = useDocumentsLocation()
  const { filter, sort, after, cursor } = search
  const isFirst = after === undefined && cursor === undefined
  if (isFirst && next === undefined && !loading) return null
  const list = JSON.stringify([database, collection, filter, sort])
  const trail = readTrail(list)
  const now = JSON.stringify([after, cursor])
  const at = trail.findIndex((each) => JSON.stringify([each.after, each.cursor]) === now)
  const previous = at > 0 ? trail[at - 1] : undefined
  const goBack = () => {
    if (!isFirst) page(previous ?? {})
  }
  const goOn = () => {
    if (next === undefined) return
    const before = at < 0 ? [{ after, cursor }] : trail.slice(0, at + 1)
    storeTrail(list, [...before, next])
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
      {next !== undefined && <PrintNote>The documents that follow are not printed.</PrintNote>}
    </nav>
  )
}

const keyOf = (list: string) => `gatehouse-pages ${list}`

/** Returns the pages of a list that were visited one after another in this tab. */
function readTrail(list: string): readonly PagePosition[] {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(list)) ?? '[]')
  } catch {
    return []
  }
}

function storeTrail(list: string, trail: readonly PagePosition[]): void {
  try {
    sessionStorage.setItem(keyOf(list), JSON.stringify(trail))
  } catch {
    // Storage is blocked or full. The first page can still be reached.
  }
}
