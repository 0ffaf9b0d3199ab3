import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './conflict.module.css'

/** What {@link Conflict} sets beside each other. */
export interface ConflictProps {
  /** What has happened, and what to do: a sentence or two. */
  readonly said: string
  readonly theirs: { readonly label: string; readonly value: ReactNode }
  readonly yours: { readonly label: string; readonly value: ReactNode }
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Somebody else has changed what is being edited: theirs beside yours, and the choice. */
export function Conflict({ said, theirs, yours, onTakeTheirs, onKeepYours }: ConflictProps) {
  return (
    <div className={classes.conflict} role="alert" tabIndex={-1} data-fault="">
      <p>{said}</p>
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
