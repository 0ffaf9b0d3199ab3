import { Button } from '@mantine/core'
import classes from './document-conflict.module.css'
import { JsonBlock } from './json-block.tsx'

/** What {@link DocumentConflict} sets beside each other, as JSON. */
export interface DocumentConflictProps {
  readonly theirs: string
  readonly yours: string
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Somebody else has changed what is being edited: theirs beside yours, and the choice. */
export function DocumentConflict(props: DocumentConflictProps) {
  const { theirs, yours, onTakeTheirs, onKeepYours } = props
  return (
    <div className={classes.conflict} role="alert" tabIndex={-1} data-fault="">
      <p>
        Somebody changed this document while you were editing it. It was not saved: compare, choose,
        then save again.
      </p>
      <dl className={classes.both}>
        <div>
          <dt>Theirs, stored now</dt>
          <dd>
            <JsonBlock label="Theirs, stored now" text={theirs} />
          </dd>
        </div>
        <div>
          <dt>Yours, not saved</dt>
          <dd>
            <JsonBlock label="Yours, not saved" text={yours} />
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
