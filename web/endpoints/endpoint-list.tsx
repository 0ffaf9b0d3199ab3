import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { AddressText } from './address-text.tsx'
import { DatabaseChips } from './database-chips.tsx'
import classes from './endpoint-list.module.css'
import type { EndpointTableProps } from './endpoint-table.tsx'
import { StateCell } from './state-cell.tsx'
import { NO_FIGURE, sayCount } from './traffic.ts'
import { YouAreHere } from './you-are-here.tsx'

/** The endpoints on a narrow screen: two lines each, with the same menu. */
export function EndpointList({ rows, here, databases, menuOf, onMenu }: EndpointTableProps) {
  return (
    <ul className={classes.list} aria-label="Endpoints and what runs for them">
      {rows.map((row) => (
        <li key={row.id} data-row={row.id} tabIndex={-1} className={classes.row}>
          <div className={classes.facts}>
            <div className={classes.line}>
              <AddressText address={row.address} />
              {row.id === here && <YouAreHere />}
            </div>
            <div className={classes.line}>
              <StateCell row={row} />
              {row.state !== 'failed' && (
                <>
                  <span className={classes.chips}>
                    <DatabaseChips mapping={row.databases} existing={databases} room={1} />
                  </span>
                  {/* A draining one says how many are left beside its state. */}
                  {row.state !== 'draining' && (
                    <span className={classes.open} data-live>
                      {row.lead === undefined ? NO_FIGURE : sayCount(row.connections)} open
                    </span>
                  )}
                </>
              )}
            </div>
            {row.state === 'failed' && <p className={classes.reason}>{row.lead?.error}</p>}
          </div>
          <ActionIcon
            aria-label={`Actions for ${row.address}`}
            aria-haspopup="menu"
            aria-expanded={row.id === menuOf}
            onClick={(event) => onMenu(row, event.currentTarget)}
          >
            <IconDots size={16} stroke={1.5} aria-hidden="true" />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}
