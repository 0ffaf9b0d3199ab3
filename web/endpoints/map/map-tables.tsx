import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { RecordSection } from '../../ui/table/record-section.tsx'
import type { Column } from '../../ui/table/record-table.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { defaultOf } from '../model/mapping.ts'
import { AddressNote, AddressText } from '../table/cells/address-text.tsx'
import { DatabaseChips } from '../table/cells/database-chips.tsx'
import type { MapGraph, MapGroup, MapName } from './map-graph.ts'
import classes from './map-tables.module.css'

export interface MapTablesProps {
  readonly graph: MapGraph
  readonly databases: readonly string[] | undefined
  /** The expanded group. */
  readonly open: string | undefined
  readonly onToggle: (id: string) => void
}

/** Shows the map as tables: the databases of each mapping, and the endpoints of each database. */
export function MapTables({ graph, databases, open, onToggle }: MapTablesProps) {
  const groups: Column<MapGroup>[] = [
    {
      head: 'Endpoints',
      width: 300,
      cell: (group) => <GroupName group={group} open={open === group.id} onToggle={onToggle} />,
    },
    { head: 'State', width: 200, cell: (group) => <GroupState group={group} /> },
    {
      head: 'Default',
      width: 160,
      cell: ({ mapping }) => <span className="mono">{defaultOf(mapping)}</span>,
    },
    {
      head: 'Serves',
      cell: ({ mapping }) => (
        <div className={classes.served}>
          <DatabaseChips mapping={mapping} existing={databases} room={5} />
        </div>
      ),
    },
  ]
  return (
    <>
      {graph.groups.length > 0 && (
        <RecordSection
          title="By mapping"
          records={graph.groups}
          columns={groups}
          idOf={({ id }) => id}
          detailOf={({ id, rows }) =>
            id === open && rows.length > 1 ? <Addresses rows={rows} /> : undefined
          }
        />
      )}
      {graph.names.some(({ name }) => name !== null) && (
        <RecordSection
          title="By database"
          records={graph.names.filter(({ name }) => name !== null)}
          columns={names}
          idOf={({ id }) => id}
        />
      )}
    </>
  )
}

const names: readonly Column<MapName>[] = [
  {
    head: 'Database',
    width: 300,
    cell: ({ name, exists }) =>
      exists && name !== null ? (
        <Link to="/data/$database" params={{ database: name }} className="mono">
          {name}
        </Link>
      ) : (
        <span className="mono dim">{name}</span>
      ),
  },
  {
    head: 'State',
    width: 200,
    cell: ({ exists, through }) =>
      exists ? (through === 0 ? 'Not served' : 'Served') : 'Does not exist',
  },
  { head: 'Default of', width: 160, cell: ({ defaultOf: count }) => <Count count={count} /> },
  { head: 'Served by', cell: ({ through }) => <Count count={through} /> },
]

const Count = ({ count }: { count: number }) => (
  <>
    {formatCount(count)} {count === 1 ? 'endpoint' : 'endpoints'}
  </>
)

function GroupName(props: { group: MapGroup; open: boolean; onToggle: (id: string) => void }) {
  const { group, open, onToggle } = props
  const [first, ...others] = group.rows
  if (first !== undefined && others.length === 0) return <Address row={first} />
  return (
    <button
      type="button"
      id={`group-${group.id}`}
      className="link-button"
      aria-expanded={open}
      onClick={() => onToggle(group.id)}
    >
      {formatCount(group.rows.length)} endpoints
    </button>
  )
}

function GroupState({ group: { rows, state } }: { group: MapGroup }) {
  const alike = rows.filter((row) => row.state === state).length
  return (
    <StateBadge
      state={state}
      detail={alike < rows.length ? `${alike} of ${rows.length}` : undefined}
    />
  )
}

/** Maximum number of addresses listed; the table of endpoints can filter for the others. */
const MAX_ADDRESSES = 200

const Addresses = ({ rows }: { rows: MapGroup['rows'] }) => (
  <ul className={classes.addresses}>
    {rows.slice(0, MAX_ADDRESSES).map((row) => (
      <li key={row.id}>
        <Address row={row} />
      </li>
    ))}
    {rows.length > MAX_ADDRESSES && <li>and {formatCount(rows.length - MAX_ADDRESSES)} more</li>}
  </ul>
)

const Address = ({ row: { address, policy } }: { row: EndpointRow }) => (
  <>
    <Link to="/endpoints" search={{ open: address }} className={classes.address}>
      <AddressText address={address} />
    </Link>
    <AddressNote policy={policy} />
  </>
)
