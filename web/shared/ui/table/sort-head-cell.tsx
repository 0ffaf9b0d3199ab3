import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import classes from './sort-head-cell.module.css'

/** A head of a column: how the table is sorted by it now, and what a press of it does. */
export interface SortHead {
  readonly sorted: 'ascending' | 'descending' | 'none'
  readonly toggle: () => void
}

/** The head of a column by which the table can be sorted. */
export function SortHeadCell(props: {
  label: string
  className?: string | undefined
  head: SortHead
}) {
  const { label, className, head } = props
  const Arrow = head.sorted === 'ascending' ? IconArrowUp : IconArrowDown
  return (
    <th scope="col" className={className} aria-sort={head.sorted}>
      <button type="button" className={classes.sort} onClick={head.toggle}>
        {label}
        {head.sorted !== 'none' && <Arrow size={12} stroke={2} aria-hidden="true" />}
      </button>
    </th>
  )
}
