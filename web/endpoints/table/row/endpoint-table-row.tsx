import { memo } from 'react'
import type { RuleWord } from '../../../policy/rule-labels.ts'
import { IconDots } from '../../../ui/icon/icons.tsx'
import { IconButton } from '../../../ui/layout/icon-button.tsx'
import { CopyButton } from '../../../ui/text/copy-button.tsx'
import { NO_FIGURE } from '../../../ui/text/format-number.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import type { LiveFigures } from '../../model/live-figures.ts'
import { AddressNote, AddressText } from '../cells/address-text.tsx'
import { DatabaseChips } from '../cells/database-chips.tsx'
import { RuleChips, ruledPolicy } from '../cells/rule-chips.tsx'
import { StateCell } from '../cells/state-cell.tsx'
import { FailureReason, TrafficCells } from '../cells/traffic-cells.tsx'
import { YouAreHere } from '../cells/you-are-here.tsx'
import classes from '../endpoint-table.module.css'
import { RowCheckbox } from './row-checkbox.tsx'
import { useChangeTint } from './use-change-tint.ts'

export interface EndpointRowProps {
  readonly row: EndpointRow
  readonly index: number
  readonly active: boolean
  readonly here: boolean
  readonly databases: readonly string[] | undefined
  readonly figures: LiveFigures
  readonly menuOpen: boolean
  readonly panelOpen: boolean
  /** `undefined` if rows cannot be selected. */
  readonly selected: boolean | undefined
  readonly onMenu: (row: EndpointRow, button: HTMLElement) => void
  readonly onSelect: (row: EndpointRow, extend: boolean) => void
  readonly onRule: ((rule: RuleWord) => void) | undefined
}

// A constant element, which React skips when it renders a row again.
const dots = <IconDots />

/** A row of the table, rendered again only if its props change. */
export const EndpointTableRow = memo(function EndpointTableRow(
  props: EndpointRowProps & {
    chips: number
    scale: number | undefined
    /** Width of the chips of rules, px. */
    rules: number
    beside: boolean
  },
) {
  const { row, index, active, here, databases, menuOpen, selected } = props
  const tabIndex = active ? 0 : -1
  const policy = ruledPolicy(row)
  const changed = useChangeTint(`${row.state} ${row.databases?.join(' ')} ${row.policyRevision}`)
  return (
    <tr
      data-row={row.id}
      aria-rowindex={index + 2}
      data-selected={selected || undefined}
      tabIndex={tabIndex}
      data-menu-open={menuOpen || props.panelOpen || undefined}
      data-changed={changed || undefined}
    >
      {selected !== undefined && (
        <td className={classes.check}>
          <RowCheckbox
            row={row}
            selected={selected}
            tabIndex={tabIndex}
            onSelect={props.onSelect}
          />
        </td>
      )}
      <td className={classes.state}>
        <StateCell row={row} />
      </td>
      <th scope="row" className={classes.address}>
        <span className={classes.addressLine} data-here={here || undefined}>
          <AddressText address={row.address} />
          <CopyButton text={row.address} tabIndex={tabIndex} className={classes.copy} />
          {here && <YouAreHere />}
        </span>
        <AddressNote policy={row.policy} />
      </th>
      <td className={classes.databases}>
        {props.beside && row.state === 'failed' && row.lead?.error ? (
          <FailureReason text={row.lead.error} tabIndex={tabIndex} />
        ) : (
          <DatabaseChips
            mapping={row.databases}
            existing={databases}
            room={props.chips}
            tabIndex={tabIndex}
          />
        )}
      </td>
      <TrafficCells
        row={row}
        figures={props.figures}
        scale={props.scale}
        beside={props.beside}
        tabIndex={tabIndex}
      />
      {props.onRule !== undefined && !props.beside && (
        <td className={classes.rules}>
          {policy ? (
            <RuleChips
              policy={policy}
              address={row.address}
              room={props.rules}
              tabIndex={tabIndex}
              onFilter={props.onRule}
            />
          ) : (
            row.policy === undefined && row.databases !== null && NO_FIGURE
          )}
        </td>
      )}
      <td className={classes.menu}>
        <IconButton
          aria-label={`Actions for ${row.address}`}
          aria-haspopup="menu"
          aria-expanded={menuOpen}
          tabIndex={tabIndex}
          onClick={(event) => props.onMenu(row, event.currentTarget)}
        >
          {dots}
        </IconButton>
      </td>
    </tr>
  )
})
