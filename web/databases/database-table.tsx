import { IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { useMay } from '../person.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { exactTime } from '../ui/relative-time.tsx'
import { sayBytes, sayCount } from '../ui/say-bytes.ts'
import { type SortHead, SortHeadCell } from '../ui/sort-head-cell.tsx'
import { type DatabaseRow, sayReach } from './database-rows.ts'
import { BY_NAME, nextSort, readSort, type SortColumn } from './database-sort.ts'
import classes from './database-table.module.css'
import { readDatabasesSearch } from './databases-search.ts'
import { useDatabasesLocation } from './use-databases-location.ts'

/** Why one database stays. */
export const SYSTEM_STAYS = '_system holds the administration and cannot be dropped.'

/** The height of a row by the mouse and by the finger, in pixels; the styles say the same. */
const ROW = { fine: 36, coarse: 45 } as const

/** What a {@link DatabaseTable} shows. */
export interface DatabaseTableProps {
  readonly rows: readonly DatabaseRow[]
  /** Whether it is not known who reaches them. */
  readonly unreached: boolean
}

/** Databases by name. Only the rows in sight are in the page, and the one that has the focus. */
export function DatabaseTable({ rows, unreached }: DatabaseTableProps) {
  const { search, sort } = useDatabasesLocation()
  const now = search.sort ?? BY_NAME
  const { column: by, down } = readSort(now)
  const headOf = (column: SortColumn): SortHead => ({
    sorted: column !== by ? 'none' : down ? 'descending' : 'ascending',
    toggle: () => sort(nextSort(now, column)),
  })
  const body = useRef<HTMLTableSectionElement>(null)
  const [margin, setMargin] = useState(0)
  const [focused, setFocused] = useState<number>()
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY)
  }, [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (matchMedia('(pointer: coarse)').matches ? ROW.coarse : ROW.fine),
    overscan: 10,
    scrollMargin: margin,
    getItemKey: (index) => rows[index]?.name ?? index,
    rangeExtractor: (range) => {
      const inSight = defaultRangeExtractor(range)
      if (focused === undefined || focused >= rows.length || inSight.includes(focused)) {
        return inSight
      }
      return [...inSight, focused].sort((a, b) => a - b)
    },
  })
  const items = virtual.getVirtualItems()
  let passed = margin
  return (
    <table
      className={classes.table}
      data-beside={search.open !== undefined || undefined}
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
          <th scope="col" className={classes.actions}>
            <span className="visually-hidden">Drop</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {items.map((item) => {
          const row = rows[item.index]
          if (row === undefined) return null
          const gap = item.start - passed
          passed = item.end
          return [
            gap > 0 && <Spacer key={`before ${row.name}`} height={gap} />,
            <Row key={row.name} row={row} index={item.index} unreached={unreached} />,
          ]
        })}
        {virtual.getTotalSize() + margin > passed && (
          <Spacer height={virtual.getTotalSize() + margin - passed} />
        )}
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

function Spacer({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of empty space holds nothing to focus
    <tr aria-hidden="true" className={classes.spacer}>
      <td colSpan={6} style={{ height }} />
    </tr>
  )
}

function Row(props: { row: DatabaseRow; index: number; unreached: boolean }) {
  const { row, index, unreached } = props
  const { name, collections, documents, bytes, measured } = row
  const { search, drop } = useDatabasesLocation()
  const mayChange = useMay('operator')
  const counted = measured === null ? 'Being counted' : `Counted ${exactTime(Date.parse(measured))}`
  const stays = name === '_system'
  const reach = sayReach(row)
  return (
    <tr
      data-row={name}
      data-index={index}
      aria-rowindex={index + 2}
      data-open={search.open === name || undefined}
    >
      <th scope="row">
        <Link
          to="/databases"
          search={(now) => readDatabasesSearch({ q: now.q, sort: now.sort, open: name })}
          resetScroll={false}
          className={`mono ${classes.name}`}
        >
          {name}
        </Link>
      </th>
      <td className={classes.collections}>{said(collections, sayCount)}</td>
      <td className={classes.documents} data-tip={counted}>
        {said(documents, sayCount)}
      </td>
      <td className={classes.size} data-tip={counted}>
        {said(bytes, sayBytes)}
      </td>
      <td className={classes.endpoints}>
        <span className={reach === 'None' ? 'dim' : undefined}>{unreached ? '–' : reach}</span>
      </td>
      <td className={classes.actions}>
        {mayChange && (
          <IconButton
            aria-label={`Drop ${name}`}
            aria-disabled={stays || undefined}
            data-tip={stays ? SYSTEM_STAYS : 'Drop'}
            onClick={() => stays || drop(name)}
          >
            <IconTrash size={16} stroke={1.5} aria-hidden="true" />
          </IconButton>
        )}
      </td>
    </tr>
  )
}

const said = (count: number | null, say: (count: number) => string) =>
  count === null ? <span className="dim">–</span> : say(count)
