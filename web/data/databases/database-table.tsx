import { Link } from '@tanstack/react-router'
import { type Ref, useRef, useState } from 'react'
import { type SortHead, SortHeadCell } from '../../ui/table/sort-head-cell.tsx'
import base from '../../ui/table/table.module.css'
import { useWindowRows } from '../../ui/table/use-window-rows.ts'
import { formatBytes, formatCount } from '../../ui/text/format-number.ts'
import { exactTime } from '../../ui/text/relative-time.tsx'
import { useDataLocation } from '../use-data-location.ts'
import { type DatabaseRow, formatEndpointCount } from './database-rows.ts'
import { nextSort, readSort, type SortColumn, toSort } from './database-sort.ts'
import classes from './database-table.module.css'

/**
 * Heights in pixels of rows whose name is in one line, for mouse and touch. Keep them in sync with the
 * CSS.
 */
const ROW = { fine: 36, coarse: 45 } as const

const idOf = ({ name }: DatabaseRow) => name
const heightOf = () => (matchMedia('(pointer: coarse)').matches ? ROW.coarse : ROW.fine)

export interface DatabaseTableProps {
  readonly rows: readonly DatabaseRow[]
  /** Whether the endpoints are not loaded. */
  readonly unreached: boolean
}

/** Virtualized table of databases. Renders the visible rows and the focused row. */
export function DatabaseTable({ rows, unreached }: DatabaseTableProps) {
  const { search, sort } = useDataLocation()
  const now = toSort(search.sort)
  const { column: by, down } = readSort(now)
  const headOf = (column: SortColumn): SortHead => ({
    sorted: column !== by ? 'none' : down ? 'descending' : 'ascending',
    toggle: () => sort(nextSort(now, column)),
  })
  const body = useRef<HTMLTableSectionElement>(null)
  const [focused, setFocused] = useState<number>()
  const { items, measure } = useWindowRows({
    container: body,
    rows,
    idOf,
    heightOf,
    overscan: 10,
    active: focused,
  })
  return (
    <table
      className={`${base.table} ${classes.table}`}
      aria-rowcount={rows.length + 1}
      onFocus={({ target }) => {
        const at = target.closest('tr')?.dataset.index
        setFocused(at === undefined ? undefined : Number(at))
      }}
      onBlur={() => setFocused(undefined)}
    >
      <caption className="visually-hidden">Databases</caption>
      <thead>
        <tr aria-rowindex={1}>
          {heads.map(({ column, label, className }) => (
            <SortHeadCell key={column} label={label} className={className} head={headOf(column)} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {items.map((item) => {
          if ('gap' in item) return <Gap key={`gap ${item.before}`} height={item.gap} />
          const row = rows[item.index]
          return (
            row && (
              <Row
                key={row.name}
                ref={measure}
                row={row}
                index={item.index}
                unreached={unreached}
              />
            )
          )
        })}
      </tbody>
    </table>
  )
}

const heads: readonly { column: SortColumn; label: string; className?: string | undefined }[] = [
  { column: 'name', label: 'Name' },
  { column: 'collections', label: 'Collections', className: classes.collections },
  { column: 'documents', label: 'Documents', className: classes.documents },
  { column: 'size', label: 'Size', className: classes.size },
  { column: 'endpoints', label: 'Endpoints', className: classes.endpoints },
]

function Gap({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a spacer row contains nothing focusable
    <tr aria-hidden="true">
      {/* One column: a table with fixed layout would give those that are hidden a width. */}
      <td style={{ height }} />
    </tr>
  )
}

function Row(props: {
  ref: Ref<HTMLTableRowElement>
  row: DatabaseRow
  index: number
  unreached: boolean
}) {
  const { ref, row, index, unreached } = props
  const { name, collections, documents, bytes, measured } = row
  const counted = measured === null ? 'Counting…' : `Counted ${exactTime(Date.parse(measured))}`
  const reach = formatEndpointCount(row)
  return (
    <tr ref={ref} data-row={name} data-index={index} aria-rowindex={index + 2}>
      <th scope="row">
        <Link
          to="/data/$database"
          params={{ database: name }}
          search={({ q }) => ({ q })}
          className={`mono ${classes.name}`}
        >
          {name}
        </Link>
      </th>
      <td className={classes.collections}>{message(collections, formatCount)}</td>
      <td className={classes.documents} data-tip={counted}>
        {message(documents, formatCount)}
      </td>
      <td className={classes.size} data-tip={counted}>
        {message(bytes, formatBytes)}
      </td>
      <td className={classes.endpoints}>
        <span className={reach === 'None' ? 'dim' : undefined}>{unreached ? '–' : reach}</span>
      </td>
    </tr>
  )
}

const message = (count: number | null, say: (count: number) => string) =>
  count === null ? <span className="dim">–</span> : say(count)
