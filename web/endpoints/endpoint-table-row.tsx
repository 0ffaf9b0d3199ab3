import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { memo } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { AddressText } from './address-text.tsx'
import { DatabaseChips } from './database-chips.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import classes from './endpoint-table.module.css'
import { StateCell } from './state-cell.tsx'
import { NO_FIGURE, sayCount, sayRate } from './traffic.ts'
import { YouAreHere } from './you-are-here.tsx'

interface EndpointTableRowProps {
  row: EndpointRow
  rowIndex: number
  active: boolean
  here: boolean
  databases: readonly string[] | undefined
  chips: number
  menuOpen: boolean
  onMenu: (row: EndpointRow, button: HTMLElement) => void
  onActive: (id: string) => void
}

/** A row of the table, drawn again only when its own facts have changed. */
export const EndpointTableRow = memo(function EndpointTableRow(props: EndpointTableRowProps) {
  const { row, rowIndex, active, here, databases, chips, menuOpen, onMenu, onActive } = props
  const tabIndex = active ? 0 : -1
  return (
    <tr
      data-row={row.id}
      aria-rowindex={rowIndex}
      tabIndex={tabIndex}
      onFocus={() => onActive(row.id)}
      data-menu-open={menuOpen || undefined}
    >
      <td className={classes.state}>
        <StateCell row={row} />
      </td>
      <th scope="row" className={classes.address}>
        <span className={classes.addressLine}>
          <AddressText address={row.address} />
          <CopyButton text={row.address} tabIndex={tabIndex} className={classes.copy} />
          {here && <YouAreHere />}
        </span>
      </th>
      <td>
        <DatabaseChips mapping={row.databases} existing={databases} room={chips} />
      </td>
      <TrafficCells row={row} tabIndex={tabIndex} />
      <td className={classes.menu}>
        <ActionIcon
          aria-label={`Actions for ${row.address}`}
          aria-haspopup="menu"
          aria-expanded={menuOpen}
          tabIndex={tabIndex}
          onClick={(event) => onMenu(row, event.currentTarget)}
        >
          <IconDots size={16} stroke={1.5} aria-hidden="true" />
        </ActionIcon>
      </td>
    </tr>
  )
})

/** Figures, or in their place the reason why there are none. */
function TrafficCells({ row, tabIndex }: { row: EndpointRow; tabIndex: number }) {
  if (row.state === 'failed' && row.lead?.error) {
    return (
      <td colSpan={3} className={classes.reason}>
        <span data-tip={row.lead.error} tabIndex={tabIndex}>
          {row.lead.error}
        </span>
      </td>
    )
  }
  const none = row.lead === undefined
  return (
    <>
      <td className={classes.connections} data-live>
        {none ? NO_FIGURE : sayCount(row.connections)}
      </td>
      <td className={classes.rate} data-live>
        {none ? NO_FIGURE : sayRate(row.requestsPerSecond)}
      </td>
      <td className={classes.last} data-live>
        {row.lastRequest === null ? (
          NO_FIGURE
        ) : (
          <RelativeTime time={row.lastRequest} tabIndex={tabIndex} />
        )}
      </td>
    </>
  )
}
