import type { AuditRow } from '../../server/contract/audit.ts'
import { exactTime } from '../ui/relative-time.tsx'
import classes from './audit-detail.module.css'
import { difference } from './difference.ts'

/** What is to be said of a row of the log beside what the table says: before and after. */
export function AuditDetail({ row }: { row: AuditRow }) {
  const lines = difference(row.before, row.after)
  return (
    <div className={classes.detail}>
      {lines.length === 0 ? (
        <p className="dim">Nothing else was put on record.</p>
      ) : (
        <table className={classes.sides}>
          <caption className="visually-hidden">Before and after</caption>
          <thead>
            <tr>
              <td className={classes.key} />
              <th scope="col">Before</th>
              <th scope="col">{row.outcome === 'refused' ? 'Refused' : 'After'}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ key, before, after, changed }) => (
              <tr key={key} data-changed={changed || undefined}>
                <th scope="row">{key}</th>
                <td>{before ?? <Nothing />}</td>
                <td>{after ?? <Nothing />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className={classes.facts}>
        <span>Row {row.seq}</span>
        <span>{exactTime(Date.parse(row.at))}</span>
        <span>
          by {byWords[row.by]}
          {row.address !== null && (
            <>
              {' from '}
              <span className="mono">{row.address}</span>
            </>
          )}
        </span>
        <span className={`mono ${classes.hash}`} data-tip="The hash of this row in the chain">
          {row.hash}
        </span>
      </p>
    </div>
  )
}

const byWords: Readonly<Record<AuditRow['by'], string>> = {
  session: 'a session in the browser',
  token: 'a token',
  'command-line': 'the command line',
  system: 'the server itself',
}

function Nothing() {
  return (
    <span className="dim">
      –<span className="visually-hidden"> nothing</span>
    </span>
  )
}
