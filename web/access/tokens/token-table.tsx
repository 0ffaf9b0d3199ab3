import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { IconTrash } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { OverflowNames } from '../../ui/table/overflow-names.tsx'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { RelativeTime, TimeLeft } from '../../ui/text/relative-time.tsx'
import classes from './token-table.module.css'

export interface TokenTableProps {
  readonly tokens: readonly TokenInfo[]
  readonly withOwner: boolean
  readonly onRevoke: (id: string) => void
}

const idOf = ({ id }: TokenInfo) => id

/** Lists tokens without their secrets. */
export function TokenTable({ tokens, withOwner, onRevoke }: TokenTableProps) {
  const owner: Column<TokenInfo> = {
    head: 'Owner',
    width: 152,
    cell: (token) => <span className="mono">{token.owner}</span>,
  }
  const columns: readonly Column<TokenInfo>[] = [
    { head: 'Name', cell: ({ name }) => <span className={classes.name}>{name}</span> },
    {
      head: 'Prefix',
      width: 112,
      cell: ({ prefix }) => <span className="mono">{prefix}…</span>,
    },
    ...(withOwner ? [owner] : []),
    { head: 'Role', width: 88, cell: ({ role }) => roleLabels[role] },
    {
      head: 'Databases',
      width: 160,
      cell: ({ databases }) => (databases === null ? 'All' : <ScopeNames names={databases} />),
    },
    {
      head: 'Expires',
      width: 104,
      cell: ({ expires }) =>
        expires === null ? 'Never' : <TimeLeft until={expires} over="Expired" tabIndex={0} />,
    },
    {
      head: 'Last used',
      width: 104,
      cell: ({ lastUsed }) =>
        lastUsed === null ? 'Never' : <RelativeTime time={lastUsed} tabIndex={0} />,
    },
    {
      head: 'Revoke',
      width: 48,
      actions: true,
      cell: ({ id, name }) => (
        <IconButton aria-label={`Revoke ${name}`} data-tip="Revoke" onClick={() => onRevoke(id)}>
          <IconTrash />
        </IconButton>
      ),
    },
  ]
  return <RecordTable caption="Tokens" records={tokens} columns={columns} idOf={idOf} />
}

/** Characters that fit in the column. */
const COLUMN_CHARACTERS = 17

/**
 * Lists a token's databases on one line, followed by the count of those that do not fit. Narrow
 * screens show all of them.
 */
function ScopeNames({ names }: { names: readonly string[] }) {
  const narrow = useNarrowScreen()
  const shown = names.slice(0, narrow ? names.length : countVisibleNames(names, COLUMN_CHARACTERS))
  return (
    <span className={narrow ? undefined : classes.line}>
      {shown.map((name, index) => (
        <span
          key={name}
          className={classes.scope}
          data-tip={name.length > COLUMN_CHARACTERS ? name : undefined}
        >
          <span className="mono">{name}</span>
          {index < names.length - 1 && ', '}
        </span>
      ))}
      <OverflowNames names={names.slice(shown.length)} />
    </span>
  )
}

/**
 * Returns how many names fit on one line. The minimum is one; the caller truncates it if it is too
 * long.
 *
 * @param room characters per line. A comma counts as one. If some names do not fit, space for a
 *   count such as `+12` is reserved.
 */
export function countVisibleNames(names: readonly string[], room: number): number {
  const length = (count: number) =>
    names.slice(0, count).reduce((sum, name) => sum + name.length + 1, -1)
  if (length(names.length) <= room) return names.length
  let count = 1
  while (count + 1 < names.length && length(count + 1) <= room - COUNT) count += 1
  return count
}

/** Characters of a count such as `+12` and the space before it. */
const COUNT = 4
