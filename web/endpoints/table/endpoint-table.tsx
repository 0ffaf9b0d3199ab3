import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useCallback, useRef } from 'react'
import { type SortHead, SortHeadCell } from '../ui/sort-head-cell.tsx'
import type { SortColumn } from './endpoint-sort.ts'
import classes from './endpoint-table.module.css'
import { EndpointTableRow } from './endpoint-table-row.tsx'
import { AllCheckbox } from './row-checkbox.tsx'
import { rowsAndGaps, withActive } from './row-gaps.ts'
import { type EndpointRowsProps, onRowClick } from './rows-props.ts'
import { howMany } from './selection.ts'
import { useFiguresInSight } from './use-figures-in-sight.ts'
import { useRowNavigation } from './use-row-navigation.ts'
import { useRowSlots } from './use-row-slots.ts'

/** What the table has besides what the list has. */
export interface EndpointTableProps extends EndpointRowsProps {
  /** Whether there is room for three chips, and for the line of the requests. */
  readonly wide: boolean
  /** Whether the panel stands beside, which tells the figures that find no room here. */
  readonly beside: boolean
  /** The height of a row in pixels; all have the same. */
  readonly rowHeight: number
  readonly headOf: (column: SortColumn) => SortHead
  readonly onSelectAll: () => void
}

const heads: readonly { column: SortColumn; label: string; className?: string | undefined }[] = [
  { column: 'state', label: 'State', className: classes.state },
  { column: 'address', label: 'Address', className: classes.address },
  { column: 'databases', label: 'Databases', className: classes.databases },
  { column: 'connections', label: 'Connections', className: classes.connections },
  { column: 'rate', label: 'Requests/s', className: classes.rate },
  { column: 'last', label: 'Last request', className: classes.last },
]
const fewer = heads.filter(({ column }) => column !== 'rate' && column !== 'last')

/**
 * The table of endpoints. A native table of rows of one height, of which only those in sight are in
 * the page, in a scroller of its own. One row at a time takes part in the order of Tab.
 */
export function EndpointTable(props: EndpointTableProps) {
  // The virtual list tells by the same object each time that it is another.
  'use no memo'
  const { rows, here, databases, figures, wide, beside, rowHeight, selection, onSelect } = props
  const shown = beside ? fewer : heads
  const scroller = useRef<HTMLDivElement>(null)
  const navigation = useRowNavigation({
    rows,
    place: scroller,
    pageOf: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2),
    actions: props.actions,
    select: selection && props.onSelectIndex,
    onLookFor: props.onLookFor,
  })
  const active = navigation.index
  const virtual = useVirtualizer<HTMLDivElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) =>
        withActive(defaultRangeExtractor(range), active, range.count),
      [active],
    ),
    // A row or two more than are seen: each letter in the filter draws all of them.
    overscan: 2,
    // Until the page is laid out: as many as a usual screen shows.
    initialRect: { width: 1200, height: 720 },
  })
  const { startIndex = 0, endIndex = -1 } = virtual.range ?? {}
  useFiguresInSight(rows.slice(startIndex, endIndex + 1), { figures, recent: wide })

  const width = shown.length + (selection === undefined ? 1 : 2)
  const parts = rowsAndGaps(virtual.getVirtualItems(), { from: 0, to: virtual.getTotalSize() })
  const inPage = parts.flatMap((part) => ('index' in part ? (rows[part.index]?.id ?? []) : []))
  const slots = useRowSlots(inPage, [navigation.focusedId(), props.menuOf])
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard too
      tabIndex={0}
      aria-label="Endpoints"
      className={classes.scroller}
      data-compact={!wide || undefined}
      data-beside={beside || undefined}
      // No more than is used: what changes in it is looked at again for all that is in the table.
      style={{ '--row': `${rowHeight}px`, '--rows': Math.min(3, rows.length) } as CSSProperties}
    >
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <caption className="visually-hidden">Endpoints and what runs for them</caption>
        <thead>
          <tr aria-rowindex={1}>
            {selection !== undefined && (
              <th scope="col" className={classes.check}>
                <AllCheckbox many={howMany(selection, rows)} onToggle={props.onSelectAll} />
              </th>
            )}
            {shown.map(({ column, label, className }) => (
              <SortHeadCell
                key={column}
                label={label}
                className={className}
                head={props.headOf(column)}
              />
            ))}
            <th scope="col" className={classes.menu}>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter does the same, in the navigation */}
        <tbody {...navigation.on} onClick={onRowClick(rows, props.actions.open)}>
          {parts.map((part) => {
            if ('gap' in part) {
              return (
                // biome-ignore lint/a11y/noAriaHiddenOnFocusable: room alone, nothing in it
                <tr key={`gap ${part.before}`} aria-hidden="true" className={classes.gap}>
                  <td colSpan={width} style={{ height: part.gap }} />
                </tr>
              )
            }
            const row = rows[part.index]
            return (
              row && (
                <EndpointTableRow
                  key={slots.get(row.id)}
                  row={row}
                  index={part.index}
                  active={row.id === navigation.activeId}
                  here={row.id === here}
                  databases={databases}
                  chips={wide ? 3 : 1}
                  line={wide}
                  beside={beside}
                  figures={figures}
                  menuOpen={row.id === props.menuOf}
                  panelOpen={row.id === props.panelOf}
                  selected={selection?.has(row.address)}
                  onMenu={props.onMenu}
                  onSelect={onSelect}
                />
              )
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
