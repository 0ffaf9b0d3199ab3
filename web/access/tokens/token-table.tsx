import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { IconTrash } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { RelativeTime, TimeLeft } from '../../ui/text/relative-time.tsx'
import { ScopeNames } from '../scope/scope-names.tsx'
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
