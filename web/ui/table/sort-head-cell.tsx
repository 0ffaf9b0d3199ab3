import type { KeyboardEventHandler, PropsWithChildren } from 'react'
import { IconArrowDown, IconArrowUp } from '../icon/icons.tsx'
import classes from './sort-head-cell.module.css'

/** How a table is sorted by a column, and the function that changes it. */
export interface SortHead {
  readonly sorted: 'ascending' | 'descending' | 'none'
  /** Sorts by the column. `extend` is true if Shift was held. */
  readonly toggle: (extend: boolean) => void
}

export interface SortHeadCellProps {
  readonly label: string
  readonly className?: string | undefined
  /** Width in pixels. */
  readonly width?: number
  readonly head: SortHead
  /** Handles keys while the button has the focus. */
  readonly onKeyDown?: KeyboardEventHandler
}

/** Header cell of a sortable column. Its children follow the label. */
export function SortHeadCell(props: PropsWithChildren<SortHeadCellProps>) {
  const { label, className, width, head, onKeyDown, children } = props
  const Arrow = head.sorted === 'ascending' ? IconArrowUp : IconArrowDown
  return (
    <th
      scope="col"
      className={className}
      aria-sort={head.sorted}
      // Without the names of the children.
      aria-label={label}
      style={{ width }}
    >
      <button
        type="button"
        className={classes.sort}
        onClick={({ shiftKey }) => head.toggle(shiftKey)}
        onKeyDown={onKeyDown}
      >
        <bdi className={classes.label}>{label}</bdi>
        {head.sorted !== 'none' && <Arrow size={12} stroke={2} aria-hidden="true" />}
      </button>
      {children}
    </th>
  )
}
