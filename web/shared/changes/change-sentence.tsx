import { Fragment } from 'react'
import type { AuditRow } from '../../../server/contract/audit.ts'
import classes from './change-sentence.module.css'
import { describeChange } from './describe-change.ts'

/** Returns whether an import or a deletion ended early. What it had done until then is kept. */
const isIncomplete = (after: unknown) =>
  (after as { readonly complete?: unknown } | null)?.complete === false

/** A row of the audit log as a sentence, with its outcome unless it was done. */
export function ChangeSentence({ row }: { row: AuditRow }) {
  return (
    <span className={classes.sentence}>
      {describeChange(row).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a row never change
        <Fragment key={at}>
          {at > 0 && ' '}
          {typeof part === 'string' ? (
            part
          ) : 'who' in part ? (
            <b className={classes.who}>{part.who}</b>
          ) : (
            <span className={`mono ${classes.name}`}>{part.name}</span>
          )}
        </Fragment>
      ))}
      {row.outcome === 'refused' && (
        <>
          {' '}
          <span className={classes.refused}>Rejected</span>
        </>
      )}
      {isIncomplete(row.after) && (
        <>
          {' '}
          <span className={classes.incomplete}>Incomplete</span>
        </>
      )}
    </span>
  )
}
