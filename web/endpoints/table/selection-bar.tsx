import { Button } from '@mantine/core'
import { formatSelected } from '../model/list/selection.ts'
import classes from './table-foot.module.css'

/** The bulk actions. */
export type BulkAction = 'add' | 'remove-database' | 'remove'

/** Shows the number of selected rows and the bulk actions. */
export function SelectionBar(props: {
  count: number
  hidden: number
  onBulk: (action: BulkAction) => void
  onIntent: () => void
  onExport: () => void
  onClear: () => void
}) {
  const { count, hidden, onBulk, onIntent, onExport, onClear } = props
  return (
    <section
      aria-label="Selected endpoints"
      className={classes.selected}
      onPointerEnter={onIntent}
      onFocus={onIntent}
    >
      <span role="status" className={classes.count}>
        {formatSelected(count, hidden)}
      </span>
      <Button variant="default" onClick={() => onBulk('add')}>
        Add a database
      </Button>
      <Button variant="default" onClick={() => onBulk('remove-database')}>
        Remove a database
      </Button>
      <Button variant="default" onClick={onExport}>
        Export
      </Button>
      <Button variant="default" onClick={() => onBulk('remove')}>
        Remove endpoints
      </Button>
      <Button variant="subtle" onClick={onClear}>
        Clear selection
      </Button>
    </section>
  )
}
