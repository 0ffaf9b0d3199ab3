import classes from '../../../ui/table/row-checkbox.module.css'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { canSelect } from '../../model/selection.ts'

/**
 * The checkbox of a row; Shift selects the range since the last one. A native input, because there
 * are many.
 */
export function RowCheckbox(props: {
  row: EndpointRow
  selected: boolean
  tabIndex: number
  onSelect: (row: EndpointRow, extend: boolean) => void
}) {
  const { row, selected, tabIndex, onSelect } = props
  // An empty placeholder keeps the columns aligned.
  if (!canSelect(row)) return <span className={classes.target} />
  return (
    <label className={classes.target}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label={`Select ${row.address}`}
        checked={selected}
        tabIndex={tabIndex}
        onChange={({ nativeEvent }) =>
          onSelect(row, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  )
}

/** Selects all displayed rows, or none. */
export function AllCheckbox(props: {
  many: 'none' | 'some' | 'all'
  /** Whether the label is shown beside the box. */
  isLabelShown?: boolean
  onToggle: () => void
}) {
  const { many, isLabelShown = false, onToggle } = props
  const label = 'Select all shown endpoints'
  return (
    <label className={isLabelShown ? classes.labelled : classes.target}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label={label}
        checked={many === 'all'}
        ref={(box) => {
          if (box !== null) box.indeterminate = many === 'some'
        }}
        onChange={onToggle}
      />
      {isLabelShown && label}
    </label>
  )
}
