import type { AuditRow } from '../../server/contract/audit.ts'
import { ChangeSentence } from '../audit/change-sentence.tsx'
import { RelativeTime } from '../ui/text/relative-time.tsx'
import classes from './overview.module.css'

/** Lists the last changes. */
export function RecentChanges({ rows }: { rows: readonly AuditRow[] }) {
  if (rows.length === 0) return <p className={classes.quiet}>No changes yet.</p>
  return (
    <ul className={classes.changes}>
      {rows.map((row) => (
        <li key={row.seq}>
          <div className={classes.what}>
            <ChangeSentence row={row} />
          </div>
          <RelativeTime time={row.at} tabIndex={0} />
        </li>
      ))}
    </ul>
  )
}
