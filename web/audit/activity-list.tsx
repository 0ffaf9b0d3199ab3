import { UnstyledButton } from '@mantine/core'
import type { AuditRow } from '../../server/contract/audit.ts'
import { ChangeSentence } from '../shared/changes/change-sentence.tsx'
import { describeChange, textOf } from '../shared/changes/describe-change.ts'
import { type ActivityEntry, groupChanges } from '../shared/changes/group-changes.ts'
import { IconChevronRight } from '../ui/icon/icons.tsx'
import { onRowClick } from '../ui/table/on-row-click.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import classes from './activity-list.module.css'
import { AuditDetail } from './audit-detail.tsx'

export interface ActivityListProps {
  readonly rows: readonly AuditRow[]
  /** Sequence number of the expanded row. */
  readonly open: number | undefined
  readonly onToggle: (seq: number) => void
}

const dayOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })
const timeOf = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

/** The audit log as sentences, newest first, by day. A bulk change is one entry. */
export function ActivityList({ rows, open, onToggle }: ActivityListProps) {
  const entries = groupChanges(rows)
  const days = Map.groupBy(entries, ({ row }) => new Date(row.at).toDateString())
  return [...days].map(([day, ofDay]) => (
    <section key={day} className={classes.day}>
      <h2 className={classes.heading}>
        <Day day={day} />
      </h2>
      <EntryList entries={ofDay} open={open} onToggle={onToggle} />
    </section>
  ))
}

/** "Today", "Yesterday", or a date. */
function Day({ day }: { day: string }) {
  const ago = useClock((now) => {
    if (new Date(now).toDateString() === day) return 'Today'
    const yesterday = new Date(now)
    yesterday.setDate(yesterday.getDate() - 1)
    return yesterday.toDateString() === day ? 'Yesterday' : ''
  })
  const date = dayOf.format(new Date(day))
  return ago === '' ? (
    date
  ) : (
    <>
      {ago} <span className={classes.date}>{date}</span>
    </>
  )
}

interface EntryListProps extends Omit<ActivityListProps, 'rows'> {
  readonly entries: readonly ActivityEntry[]
}

function EntryList({ entries, open, onToggle }: EntryListProps) {
  const toggleRow = onRowClick(
    entries.map(({ row }) => ({ id: `${row.seq}` })),
    ({ id }) => onToggle(Number(id)),
  )
  return (
    <ol className={classes.list}>
      {entries.map((entry) => (
        <Entry key={entry.row.seq} {...{ entry, open, onToggle, toggleRow }} />
      ))}
    </ol>
  )
}

interface EntryProps extends Omit<ActivityListProps, 'rows'> {
  readonly entry: ActivityEntry
  readonly toggleRow: ReturnType<typeof onRowClick>
}

function Entry({ entry: { row, changes }, open, onToggle, toggleRow }: EntryProps) {
  const { seq, at, address } = row
  const inside = changes.find((each) => each.seq === open)
  const isOpen = seq === open || inside !== undefined
  const toggle = () => onToggle(inside?.seq ?? seq)
  return (
    <li className={classes.entry} data-open={isOpen || undefined}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its button does the same */}
      <div className={classes.row} data-row={seq} onClick={inside ? undefined : toggleRow}>
        <UnstyledButton
          className={classes.toggle}
          aria-expanded={isOpen}
          aria-label={`${textOf(describeChange(row))}, details`}
          onClick={toggle}
        >
          <IconChevronRight size={14} stroke={1.75} />
        </UnstyledButton>
        <time dateTime={at} className={classes.time} data-tip={exactTime(Date.parse(at))}>
          {timeOf.format(new Date(at))}
        </time>
        <ChangeSentence row={row} />
        {address !== null && <span className={`mono ${classes.address}`}>{address}</span>}
      </div>
      {isOpen &&
        (changes.length === 0 ? (
          <AuditDetail row={row} />
        ) : (
          <EntryList
            entries={changes.map((each) => ({ row: each, changes: [] }))}
            open={open}
            // Closing a change keeps the bulk change open.
            onToggle={(of) => onToggle(of === open ? seq : of)}
          />
        ))}
    </li>
  )
}
