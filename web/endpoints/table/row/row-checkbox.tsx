import type { EndpointRow } from './endpoint-rows.ts'
import classes from './row-checkbox.module.css'
import { canSelect } from './selection.ts'

/** The checkbox of a row; with Shift, all from the last one to this one. A plain one: they are many. */
export function RowCheckbox(props: {
  row: EndpointRow
  selected: boolean
  tabIndex: number
  onSelect: (row: EndpointRow, extend: boolean) => void
}) {
  const { row, selected, tabIndex, onSelect } = props
  // What stands beside it stays in line.
  if (!canSelect(row)) return <span className={classes.place} />
  return (
    <label className={classes.place}>
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

/** Selects all rows that are shown, or none of them. */
export function AllCheckbox(props: { many: 'none' | 'some' | 'all'; onToggle: () => void }) {
  const { many, onToggle } = props
  return (
    <label className={classes.place}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label="Select all that are shown"
        checked={many === 'all'}
        ref={(box) => {
          if (box !== null) box.indeterminate = many === 'some'
        }}
        onChange={onToggle}
      />
    </label>
  )
}
