import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useCallback, useRef } from 'react'
import type { RuleWord } from '../../policy/rule-labels.ts'
import type { SelectRow } from '../../shared/keys/use-row-navigation.ts'
import { onRowClick } from '../../ui/table/on-row-click.ts'
import { type SortHead, SortHeadCell } from '../../ui/table/sort-head-cell.tsx'
import base from '../../ui/table/table.module.css'
import { rowsAndGaps, useRowRange } from '../../ui/table/use-row-range.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { SortColumn } from '../model/endpoint-sort.ts'
import type { LiveFigures } from '../model/live-figures.ts'
import { type Selection, selectionState } from '../model/selection.ts'
import classes from './endpoint-table.module.css'
import { EndpointTableRow } from './row/endpoint-table-row.tsx'
import { AllCheckbox } from './row/row-checkbox.tsx'
import { type RowActions, useEndpointNavigation } from './row/use-endpoint-navigation.ts'
import type { TableLayout } from './use-table-layout.ts'
import { useVisibleFigures } from './use-visible-figures.ts'

export interface EndpointTableProps extends EndpointRowsProps, TableLayout {
  readonly headOf: (column: SortColumn) => SortHead
}

/** The props that the table shares with the list for narrow screens. */
export interface EndpointRowsProps {
  readonly rows: readonly EndpointRow[]
  /** Address of the endpoint that serves this page. */
  readonly here: string
  /** The names of all databases; `undefined` until they are loaded. */
  readonly databases: readonly string[] | undefined
  readonly figures: LiveFigures
  /** The id of the row whose menu is open. */
  readonly menuOf: string | undefined
  /** The address of the endpoint in the panel. */
  readonly panelOf: string | undefined
  readonly onMenu: (row: EndpointRow, button: HTMLElement) => void
  readonly actions: RowActions
  /** `undefined` if rows cannot be selected. */
  readonly selection: Selection | undefined
  readonly onSelect: (row: EndpointRow, extend: boolean) => void
  readonly onSelectIndex: SelectRow
  readonly onSelectAll: () => void
  /** Adds a rule to the filter; `undefined` if rules are not shown. */
  readonly onRule: ((rule: RuleWord) => void) | undefined
  /** Called before a row gets the focus, with its id. */
  readonly onBeforeFocus: (id: string) => void
}

const heads: readonly { column: SortColumn; label: string; className?: string | undefined }[] = [
  { column: 'state', label: 'State', className: classes.state },
  { column: 'address', label: 'Address', className: classes.address },
  { column: 'databases', label: 'Databases', className: classes.databases },
  { column: 'connections', label: 'Connections', className: classes.connections },
  { column: 'rate', label: 'Requests/s', className: classes.rate },
]
const fewer = heads.filter(({ column }) => column !== 'rate')

/** Maximum number of databases printed per endpoint; "+n" counts the rest. */
const PRINTED_CHIPS = 50

/** Width of the chips of rules, px. */
const RULES_WIDTH = 168
const NARROW_RULES_WIDTH = 120

/**
 * The table of endpoints: a native table in its own scroll container that renders only the visible
 * rows. One row at a time is in the tab order.
 */
export function EndpointTable(props: EndpointTableProps) {
  // The virtualizer is the same object on each render, so memoization would miss its updates.
  'use no memo'
  const { rows, here, databases, figures, wide, beside, rowHeight, selection, onSelect } = props
  const shown = beside ? fewer : heads
  const scroller = useRef<HTMLDivElement>(null)
  const navigation = useEndpointNavigation({
    rows,
    container: scroller,
    pageOf: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2),
    actions: props.actions,
    select: selection && props.onSelectIndex,
    onBeforeFocus: props.onBeforeFocus,
  })
  const { printing, rangeExtractor } = useRowRange(navigation.index)
  const virtual = useVirtualizer<HTMLDivElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    rangeExtractor,
    // Keep this small: each keystroke in the filter renders all rows of the range.
    overscan: 2,
    // Size assumed before layout: a typical screen.
    initialRect: { width: 1200, height: 720 },
  })
  const { startIndex = 0, endIndex = -1 } = virtual.range ?? {}
  const visible = printing ? [] : rows.slice(startIndex, endIndex + 1)
  const scale = useVisibleFigures(visible, { figures, recent: wide })

  const items = rowsAndGaps(virtual.getVirtualItems(), { from: 0, to: virtual.getTotalSize() })
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it
      tabIndex={0}
      aria-label="Endpoints"
      className={classes.scroller}
      data-compact={!wide || undefined}
      data-beside={beside || undefined}
      // Changing a custom property restyles the whole table, so `--rows` is capped.
      style={{ '--row': `${rowHeight}px`, '--rows': Math.min(3, rows.length) } as CSSProperties}
    >
      <table className={`${base.table} ${classes.table}`} aria-rowcount={rows.length + 1}>
        <caption className="visually-hidden">Endpoints and their listeners</caption>
        <thead>
          <tr aria-rowindex={1}>
            {selection !== undefined && (
              <th scope="col" className={classes.check}>
                <AllCheckbox many={selectionState(selection, rows)} onToggle={props.onSelectAll} />
              </th>
            )}
            {shown.map(({ column, label, className }) => (
              <SortHeadCell
                key={column}
                label={label}
                className={className}
                head={props.headOf(column)}
              >
                {column === 'rate' && wide && (
                  <span className={classes.scale}>scale 0–{formatCount(scale)}/s</span>
                )}
              </SortHeadCell>
            ))}
            {props.onRule !== undefined && !beside && (
              <th scope="col" className={classes.rules}>
                Rules
              </th>
            )}
            <th scope="col" className={classes.menu}>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: useEndpointNavigation handles Enter */}
        <tbody {...navigation.on} onClick={onRowClick(rows, props.actions.open)}>
          {items.map((item) => {
            if ('gap' in item) {
              return (
                // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a spacer row contains nothing focusable
                <tr key={`gap ${item.before}`} aria-hidden="true">
                  {/* One column, because some may be hidden. */}
                  <td style={{ height: item.gap }} />
                </tr>
              )
            }
            const row = rows[item.index]
            return (
              row && (
                <EndpointTableRow
                  key={row.id}
                  row={row}
                  index={item.index}
                  active={row.id === navigation.activeId}
                  here={row.id === here}
                  databases={databases}
                  chips={printing ? PRINTED_CHIPS : wide ? 3 : 1}
                  scale={wide ? scale : undefined}
                  rules={wide ? RULES_WIDTH : NARROW_RULES_WIDTH}
                  beside={beside}
                  figures={figures}
                  menuOpen={row.id === props.menuOf}
                  panelOpen={row.id === props.panelOf}
                  selected={selection?.has(row.address)}
                  onMenu={props.onMenu}
                  onSelect={onSelect}
                  onRule={props.onRule}
                />
              )
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
