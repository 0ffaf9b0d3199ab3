import { IconDots } from '@tabler/icons-react'
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { IconButton } from '../ui/icon-button.tsx'
import { AddressText } from './address-text.tsx'
import { DatabaseChips } from './database-chips.tsx'
import classes from './endpoint-list.module.css'
import { hasFigures } from './endpoint-sort.ts'
import type { EndpointRowProps } from './endpoint-table-row.tsx'
import { RowCheckbox } from './row-checkbox.tsx'
import { rowsAndGaps, withActive } from './row-gaps.ts'
import { type EndpointRowsProps, onRowClick } from './rows-props.ts'
import { StateCell } from './state-cell.tsx'
import { NO_FIGURE, sayCount } from './traffic.ts'
import { useFigures } from './traffic-cells.tsx'
import { useChangeTint } from './use-change-tint.ts'
import { useFiguresInSight } from './use-figures-in-sight.ts'
import { useRowNavigation } from './use-row-navigation.ts'
import { YouAreHere } from './you-are-here.tsx'

/** The height of a row of the list in pixels: all have the same. */
const ROW = 64

/** The endpoints on a narrow screen: two lines each, which scroll with the page. */
export function EndpointList(props: EndpointRowsProps) {
  'use no memo'
  const { rows, here, databases, figures, selection } = props
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (list.current !== null) setTop(list.current.getBoundingClientRect().top + scrollY)
  }, [])
  const navigation = useRowNavigation({
    rows,
    place: list,
    pageOf: () => Math.max(1, Math.floor(innerHeight / ROW) - 3),
    actions: props.actions,
    select: selection && props.onSelectIndex,
    onLookFor: props.onLookFor,
  })
  const active = navigation.index
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count: rows.length,
    estimateSize: () => ROW,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) =>
        withActive(defaultRangeExtractor(range), active, range.count),
      [active],
    ),
    overscan: 6,
    scrollMargin: top,
  })
  const { startIndex = 0, endIndex = -1 } = virtual.range ?? {}
  useFiguresInSight(rows.slice(startIndex, endIndex + 1), { figures, recent: false })
  const parts = rowsAndGaps(virtual.getVirtualItems(), {
    from: top,
    to: top + virtual.getTotalSize(),
  })
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter does the same, in the navigation
    <ul
      ref={list}
      className={classes.list}
      aria-label="Endpoints and what runs for them"
      {...navigation.on}
      onClick={onRowClick(rows, props.actions.open)}
    >
      {parts.map((part) => {
        if ('gap' in part) {
          return <li key={`gap ${part.before}`} aria-hidden="true" style={{ height: part.gap }} />
        }
        const row = rows[part.index]
        return (
          row && (
            <ListRow
              key={row.id}
              row={row}
              index={part.index}
              count={rows.length}
              active={row.id === navigation.activeId}
              here={row.id === here}
              databases={databases}
              figures={figures}
              menuOpen={row.id === props.menuOf}
              panelOpen={row.id === props.panelOf}
              selected={selection?.has(row.address)}
              onMenu={props.onMenu}
              onSelect={props.onSelect}
            />
          )
        )
      })}
    </ul>
  )
}

const ListRow = memo(function ListRow(props: EndpointRowProps & { count: number }) {
  const { row, selected } = props
  const tabIndex = props.active ? 0 : -1
  const changed = useChangeTint(row.id, `${row.state} ${row.databases?.join(' ')}`)
  const { connections } = useFigures(row, props.figures)
  return (
    <li
      data-row={row.id}
      aria-setsize={props.count}
      aria-posinset={props.index + 1}
      tabIndex={tabIndex}
      className={classes.row}
      data-selected={selected || undefined}
      data-changed={changed || undefined}
    >
      {selected !== undefined && (
        <RowCheckbox row={row} selected={selected} tabIndex={tabIndex} onSelect={props.onSelect} />
      )}
      <div className={classes.facts}>
        <div className={classes.line}>
          <AddressText address={row.address} />
          {props.here && <YouAreHere />}
        </div>
        <div className={classes.line}>
          <StateCell row={row} />
          {row.state === 'failed' && row.lead?.error ? (
            <span className={classes.reason} data-tip={row.lead.error}>
              {row.lead.error}
            </span>
          ) : (
            <>
              <span className={classes.chips}>
                <DatabaseChips mapping={row.databases} existing={props.databases} room={1} />
              </span>
              {/* A draining one says how many are left beside its state. */}
              {row.state !== 'draining' && (
                <span className={classes.open} data-live>
                  {hasFigures(row) ? sayCount(connections) : NO_FIGURE} open
                </span>
              )}
            </>
          )}
        </div>
      </div>
      <IconButton
        aria-label={`Actions for ${row.address}`}
        aria-haspopup="menu"
        aria-expanded={props.menuOpen}
        tabIndex={tabIndex}
        onClick={(event) => props.onMenu(row, event.currentTarget)}
      >
        <IconDots size={16} stroke={1.5} aria-hidden="true" />
      </IconButton>
    </li>
  )
})
