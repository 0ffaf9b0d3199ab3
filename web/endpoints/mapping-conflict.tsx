import { Button } from '@mantine/core'
import { DatabaseChips } from './database-chips.tsx'
import classes from './mapping-conflict.module.css'

/** What {@link MappingConflict} sets beside each other. */
export interface MappingConflictProps {
  readonly theirs: readonly string[]
  /** `undefined` where none is chosen. */
  readonly yours: readonly string[] | undefined
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Somebody else has changed what is being edited: theirs beside yours, and the choice. */
export function MappingConflict({
  theirs,
  yours,
  onTakeTheirs,
  onKeepYours,
}: MappingConflictProps) {
  return (
    <div className={classes.conflict} role="alert">
      <p>Somebody changed this mapping while you were editing it.</p>
      <dl className={classes.both}>
        <div>
          <dt>Theirs, in force now</dt>
          <dd>
            <DatabaseChips mapping={theirs} existing={undefined} room={8} />
          </dd>
        </div>
        <div>
          <dt>Yours, not saved</dt>
          <dd>
            {yours === undefined ? (
              'None chosen'
            ) : (
              <DatabaseChips mapping={yours} existing={undefined} room={8} />
            )}
          </dd>
        </div>
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
