import { Button } from '@mantine/core'
import { useRef } from 'react'
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
 * component remembers the previous ones.
 */
export function Pager({ next, loading }: PagerProps) {
  const { search, page } = useDocumentsLocation()
  const now = keyOf(search)
  const before = useRef(new Map<string, PagePosition>())
  if (now === '' && next === undefined && !loading) return null
  const canGoBack = now === '' || before.current.has(now)
  const goBack = () => {
    if (now !== '') page(before.current.get(now) ?? {})
  }
  const goOn = () => {
    if (next === undefined) return
    const { after, cursor } = search
    before.current.set(keyOf(next), { after, cursor })
    page(next)
  }
  return (
    <nav aria-label="Pages" className={classes.pager} data-quiet={loading || undefined}>
      <Button
        variant="default"
        leftSection={<IconChevronLeft />}
        aria-disabled={now === '' || undefined}
        onClick={goBack}
      >
        {canGoBack ? 'Previous' : 'First page'}
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

/** Returns a text that identifies a position; empty on the first page. */
const keyOf = ({ after, cursor }: PagePosition) => [after, cursor].join(' ').trim()
