import { memo, useRef } from 'react'
import { IconDots } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { onRowClick } from '../../ui/table/on-row-click.ts'
import { useWindowRows } from '../../ui/table/use-window-rows.ts'
import { formatCount, NO_FIGURE } from '../../ui/text/format-number.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { hasFigures } from '../model/endpoint-sort.ts'
import { selectionState } from '../model/selection.ts'
import { AddressNote, AddressText } from './cells/address-text.tsx'
import { DatabaseChips } from './cells/database-chips.tsx'
import { RuleChips, ruledPolicy } from './cells/rule-chips.tsx'
import { StateCell } from './cells/state-cell.tsx'
import { ErrorShare, useFigures } from './cells/traffic-cells.tsx'
import { YouAreHere } from './cells/you-are-here.tsx'
import classes from './endpoint-list.module.css'
import type { EndpointRowsProps } from './endpoint-table.tsx'
import type { EndpointRowProps } from './row/endpoint-table-row.tsx'
import { AllCheckbox, RowCheckbox } from './row/row-checkbox.tsx'
import { useChangeTint } from './row/use-change-tint.ts'
import { useEndpointNavigation } from './row/use-endpoint-navigation.ts'
import { useVisibleFigures } from './use-visible-figures.ts'

/** Height of every list row, px. */
const ROW = 64

/** Width of the chips of rules where they have room, px. */
const RULES_WIDTH = 168

const idOf = ({ id }: EndpointRow) => id
const heightOf = () => ROW

/** The list of endpoints for narrow screens: two lines per row, scrolled with the page. */
export function EndpointList(props: EndpointRowsProps) {
  'use no memo'
  const { rows, here, databases, figures, selection } = props
  const container = useRef<HTMLUListElement>(null)
  const navigation = useEndpointNavigation({
    rows,
    container: container,
    pageOf: () => Math.max(1, Math.floor(innerHeight / ROW) - 3),
    actions: props.actions,
    select: selection && props.onSelectIndex,
    onBeforeFocus: props.onBeforeFocus,
  })
  const { items, visible } = useWindowRows({
    container,
    rows,
    idOf,
    heightOf,
    overscan: 6,
    active: navigation.index,
  })
  useVisibleFigures(visible, { figures, recent: false })
  return (
    <>
      {selection !== undefined && (
        <AllCheckbox
          many={selectionState(selection, rows)}
          isLabelShown
          onToggle={props.onSelectAll}
        />
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: useEndpointNavigation handles Enter */}
      <ul
        ref={container}
        className={classes.list}
        aria-label="Endpoints and their listeners"
        {...navigation.on}
        onClick={onRowClick(rows, props.actions.open)}
      >
        {items.map((item) => {
          if ('gap' in item) {
            return <li key={`gap ${item.before}`} aria-hidden="true" style={{ height: item.gap }} />
          }
          const row = rows[item.index]
          return (
            row && (
              <ListRow
                key={row.id}
                row={row}
                index={item.index}
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
                onRule={props.onRule}
              />
            )
          )
        })}
      </ul>
    </>
  )
}

const ListRow = memo(function ListRow(props: EndpointRowProps & { count: number }) {
  const { row, selected } = props
  const tabIndex = props.active ? 0 : -1
  const changed = useChangeTint(`${row.state} ${row.databases?.join(' ')} ${row.policyRevision}`)
  const figures = useFigures(row, props.figures)
  const policy = ruledPolicy(row)
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
        <div className={classes.line} data-here={props.here || undefined}>
          <AddressText address={row.address} />
          {props.here && <YouAreHere />}
          <AddressNote policy={row.policy} />
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
                <DatabaseChips
                  mapping={row.databases}
                  existing={props.databases}
                  room={1}
                  tabIndex={tabIndex}
                />
              </span>
              {policy && props.onRule !== undefined && (
                <span className={classes.rules}>
                  <RuleChips
                    policy={policy}
                    address={row.address}
                    room={RULES_WIDTH}
                    tabIndex={tabIndex}
                    onFilter={props.onRule}
                  />
                </span>
              )}
              {/* A draining row shows its connections beside its state. */}
              {row.state !== 'draining' && (
                <span className={classes.open} data-live>
                  {hasFigures(row) && <ErrorShare figures={figures} />}
                  {hasFigures(row) ? formatCount(figures.connections) : NO_FIGURE} open
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
        <IconDots />
      </IconButton>
    </li>
  )
})
