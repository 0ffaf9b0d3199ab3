import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import classes from './endpoint-table.module.css'
import type { SortHead } from './use-sorted-rows.ts'

/** The head of a column by which the table can be sorted. */
export function SortHeadCell(props: {
  label: string
  className: string | undefined
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
