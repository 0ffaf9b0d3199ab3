import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import classes from './sort-head-cell.module.css'

/** How a table is sorted by a column, and the function that changes it. */
export interface SortHead {
  readonly sorted: 'ascending' | 'descending' | 'none'
  readonly toggle: () => void
}

/** Header cell of a sortable column. */
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
