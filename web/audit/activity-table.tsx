import { UnstyledButton } from '@mantine/core'
import type { AuditRow } from '../../server/contract/audit.ts'
import { IconChevronRight } from '../ui/icon/icons.tsx'
import { type Column, RecordTable } from '../ui/table/record-table.tsx'
import { RelativeTime } from '../ui/text/relative-time.tsx'
import { labelOfRow } from './action-labels.ts'
import classes from './activity-table.module.css'
import { AuditDetail } from './audit-detail.tsx'

export interface ActivityTableProps {
  readonly rows: readonly AuditRow[]
  /** Sequence number of the expanded row. */
  readonly open: number | undefined
  readonly onToggle: (seq: number) => void
}

/** Returns whether an import ended early. The documents that it had stored until then are kept. */
const isIncomplete = (after: unknown) =>
  (after as { readonly complete?: unknown } | null)?.complete === false

const idOf = ({ seq }: AuditRow) => `${seq}`

/** Table of audit rows. Expanding a row shows the state before and after. */
export function ActivityTable({ rows, open, onToggle }: ActivityTableProps) {
  const columns: readonly Column<AuditRow>[] = [
    {
      head: 'What',
      width: 248,
      cell: ({ seq, action, outcome, target, after }) => {
        const label = labelOfRow({ action, outcome })
        return (
          <span className={classes.action}>
            <UnstyledButton
              className={classes.toggle}
              aria-expanded={seq === open}
              aria-label={`${label}${target && `: ${target}`}, before and after`}
              onClick={() => onToggle(seq)}
            >
              <IconChevronRight size={14} stroke={1.75} />
              {label}
            </UnstyledButton>
            {outcome === 'refused' && <span className={classes.refused}>Rejected</span>}
            {action === 'database.import' && isIncomplete(after) && (
              <span className={classes.incomplete}>Incomplete</span>
            )}
          </span>
        )
      },
    },
    {
      head: 'Target',
      // A change that was rejected before its body was read names no target.
      cell: ({ target }) => <span className={`mono ${classes.target}`}>{target || '–'}</span>,
    },
    {
      head: 'Who',
      width: 224,
      cell: ({ actor, by }) => (
        <span className={classes.actor}>
          <span className="mono">{actor}</span>
          {by === 'token' && <span className="meta dim">by token</span>}
        </span>
      ),
    },
    {
      head: 'Client address',
      width: 144,
      wideOnly: true,
      cell: ({ address }) => <span className="mono">{address ?? '–'}</span>,
    },
    {
      head: 'When',
      width: 104,
      cell: ({ at }) => <RelativeTime time={at} tabIndex={0} />,
    },
  ]
  return (
    <RecordTable
      caption="Activity"
      records={rows}
      columns={columns}
      idOf={idOf}
      detailOf={(row) => (row.seq === open ? <AuditDetail row={row} /> : undefined)}
    />
  )
}
