import { type KeyboardEvent, useCallback, useRef, useState } from 'react'
import type { EndpointRow } from './endpoint-rows.ts'
import classes from './endpoint-table.module.css'
import { EndpointTableRow } from './endpoint-table-row.tsx'
import { type RowKeys, runRowKey, stepOf } from './row-keys.ts'

/** What {@link EndpointTable} and the list for narrow screens show and do. */
export interface EndpointTableProps {
  readonly rows: readonly EndpointRow[]
  /** The address through which this page came. */
  readonly here: string | undefined
  /** The names of all databases; `undefined` while they are not known. */
  readonly databases: readonly string[] | undefined
  /** The row whose menu is open. */
  readonly menuOf: string | undefined
  readonly onMenu: (row: EndpointRow, button: HTMLElement) => void
  readonly keys: RowKeys
}

/** How many chips a row has room for. */
export interface RowRoom {
  readonly chips: number
}

/**
 * The table of endpoints. One row at a time takes part in the order of Tab; the arrows go from row
 * to row. A native table with rows of one height, so that it can be drawn in part.
 */
export function EndpointTable(props: EndpointTableProps & { room: RowRoom }) {
  const { rows, here, databases, menuOf, onMenu, keys, room } = props
  const [active, setActive] = useState<string>()
  const body = useRef<HTMLTableSectionElement>(null)
  const activeId = rows.some(({ id }) => id === active) ? active : rows[0]?.id

  const onKeyDown = (event: KeyboardEvent) => {
    // In the row itself, not in a button within it that has its own keys.
    const index = rows.findIndex(({ id }) => id === activeId)
    const row = rows[index]
    const onRow = event.target instanceof HTMLTableRowElement
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    const step = stepOf(event.key, index, rows.length)
    const goal = step === undefined ? undefined : rows[step]
    if (goal !== undefined) {
      event.preventDefault()
      setActive(goal.id)
      body.current?.rows[rows.indexOf(goal)]?.focus()
    } else if (onRow && runRowKey(keys, event.key, row)) event.preventDefault()
  }

  const onActive = useCallback((id: string) => setActive(id), [])
  return (
    <table className={classes.table} aria-rowcount={rows.length + 1}>
      <caption className="visually-hidden">Endpoints and what runs for them</caption>
      <thead>
        <tr>
          <th scope="col" className={classes.state}>
            State
          </th>
          <th scope="col" className={classes.address}>
            Address
          </th>
          <th scope="col">Databases</th>
          <th scope="col" className={classes.connections}>
            Connections
          </th>
          <th scope="col" className={classes.rate}>
            Requests/s
          </th>
          <th scope="col" className={classes.last}>
            Last request
          </th>
          <th scope="col" className={classes.menu}>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={onKeyDown}>
        {rows.map((row, index) => (
          <EndpointTableRow
            key={row.id}
            row={row}
            rowIndex={index + 2}
            active={row.id === activeId}
            here={row.id === here}
            databases={databases}
            chips={room.chips}
            menuOpen={row.id === menuOf}
            onMenu={onMenu}
            onActive={onActive}
          />
        ))}
      </tbody>
    </table>
  )
}
