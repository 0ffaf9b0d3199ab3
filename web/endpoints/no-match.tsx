import { Button } from '@mantine/core'
import { Notice } from '../ui/notice.tsx'
import { noMatchSentence } from './endpoint-filter.ts'

/** Says that no endpoint passes the filter, how many it hides, and offers to clear it. */
export function NoMatch(props: { text: string; hidden: number; onClear: () => void }) {
  const { text, hidden, onClear } = props
  return (
    <Notice
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {noMatchSentence(text, hidden)}
    </Notice>
  )
}
