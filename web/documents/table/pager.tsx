import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useRef } from 'react'
import { PrintNote } from '../../shared/ui/print/printed-rows.tsx'
import { useDocumentsLocation } from '../use-documents-location.ts'
import classes from './pager.module.css'

/** Props of {@link Pager}. `next` is the id that the next page starts after. */
export interface PagerProps {
  readonly next: string | undefined
  readonly loading: boolean
}

/**
 * Buttons for the previous and next page. The server supplies only the next cursor, so the
 * component remembers the previous ones.
 */
export function Pager({ next, loading }: PagerProps) {
  const { search, page } = useDocumentsLocation()
  const { after } = search
  const before = useRef(new Map<string, string | undefined>())
  if (after === undefined && next === undefined && !loading) return null
  const known = after === undefined || before.current.has(after)
  const goBack = () => {
    if (after !== undefined) page(before.current.get(after))
  }
  const goOn = () => {
    if (next === undefined) return
    before.current.set(next, after)
    page(next)
  }
  return (
    <nav aria-label="Pages" className={classes.pager} data-quiet={loading || undefined}>
      <Button
        variant="default"
        leftSection={<IconChevronLeft size={16} stroke={1.5} aria-hidden="true" />}
        aria-disabled={after === undefined || undefined}
        onClick={goBack}
      >
        {known ? 'Previous' : 'First page'}
      </Button>
      <Button
        variant="default"
        rightSection={<IconChevronRight size={16} stroke={1.5} aria-hidden="true" />}
        aria-disabled={next === undefined || undefined}
        onClick={goOn}
      >
        Next
      </Button>
      {next !== undefined && <PrintNote>The documents that follow are not printed.</PrintNote>}
    </nav>
  )
}
