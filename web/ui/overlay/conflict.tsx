import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './conflict.module.css'

export interface ConflictProps {
  /** What happened and what to do, in one or two sentences. */
  readonly message: string
  readonly theirs: { readonly label: string; readonly value: ReactNode }
  readonly yours: { readonly label: string; readonly value: ReactNode }
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Shows another person's change beside the user's, and lets the user choose. */
export function Conflict({ message, theirs, yours, onTakeTheirs, onKeepYours }: ConflictProps) {
  return (
    <div className={classes.conflict} role="alert" tabIndex={-1} data-form-error="">
      <p>{message}</p>
      <dl className={classes.both}>
        {[theirs, yours].map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className={classes.actions}>
        <Button variant="default" onClick={onTakeTheirs}>
          Take theirs
        </Button>
        <Button variant="default" onClick={onKeepYours}>
          Keep mine
        </Button>
      </div>
    </div>
  )
}
