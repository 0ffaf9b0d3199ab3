import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useRef } from 'react'
import classes from './pager.module.css'
import { useDocumentsLocation } from './use-documents-location.ts'

/** Where the next page begins, and whether this one is still being read. */
export interface PagerProps {
  readonly next: string | undefined
  readonly loading: boolean
}

/** The ways to the pages before and after. The server knows the way on; the way back is remembered. */
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
    </nav>
  )
}
