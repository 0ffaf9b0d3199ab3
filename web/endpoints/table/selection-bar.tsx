import { Button } from '@mantine/core'
import { saySelected } from './selection.ts'
import classes from './table-foot.module.css'

/** What can be done with several endpoints at once. */
export type SeveralAction = 'add' | 'take-out' | 'remove'

/** What is selected, and what can be done with it. */
export function SelectionBar(props: {
  count: number
  hidden: number
  onSeveral: (action: SeveralAction) => void
  onIntent: () => void
  onExport: () => void
  onClear: () => void
}) {
  const { count, hidden, onSeveral, onIntent, onExport, onClear } = props
  return (
    <section
      aria-label="Selected endpoints"
      className={classes.selected}
      onPointerEnter={onIntent}
      onFocus={onIntent}
    >
      <span role="status" className={classes.count}>
        {saySelected(count, hidden)}
      </span>
      <Button variant="default" onClick={() => onSeveral('add')}>
        Add a database
      </Button>
      <Button variant="default" onClick={() => onSeveral('take-out')}>
        Take out a database
      </Button>
      <Button variant="default" onClick={onExport}>
        Export
      </Button>
      <Button variant="default" onClick={() => onSeveral('remove')}>
        Remove
      </Button>
      <Button variant="subtle" onClick={onClear}>
        Clear selection
      </Button>
    </section>
  )
}
