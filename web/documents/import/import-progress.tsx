import { Button } from '@mantine/core'
import { useId } from 'react'
import { DialogActions } from '../../shared/ui/overlay/dialog.tsx'
import classes from './import-dialog.module.css'

export interface ImportProgressProps {
  /** The share of the source that was sent, 0 to 1. */
  readonly share: number
  /** Whether the user wants to close the dialog, which would cancel the import. */
  readonly isLeaving: boolean
  readonly onStay: () => void
  readonly onLeave: () => void
  readonly onCancel: () => void
}

/** Shows the share of the source that was sent, with Cancel. Asks before the dialog is closed. */
export function ImportProgress(props: ImportProgressProps) {
  const { share, isLeaving, onStay, onLeave, onCancel } = props
  const question = useId()
  const isSent = share >= 1
  const percent = Math.floor(share * 100)
  return (
    <>
      <progress
        className={classes.progress}
        aria-label="Importing documents"
        max={100}
        // The server reports how many documents it has stored only at the end.
        value={isSent ? undefined : percent}
      />
      <p role="status" className="dim">
        {isSent ? 'The file was sent. Documents are still being stored. ' : `${percent} % sent. `}
        Keep this page open. If you cancel, documents that are already stored are kept.
      </p>
      {isLeaving ? (
        <>
          <p id={question} className={`warning ${classes.question}`}>
            Closing this dialog cancels the import.
          </p>
          <DialogActions>
            <Button variant="default" onClick={onLeave}>
              Cancel import and close
            </Button>
            <Button variant="filled" onClick={onStay} aria-describedby={question} autoFocus>
              Keep importing
            </Button>
          </DialogActions>
        </>
      ) : (
        <DialogActions>
          <Button variant="default" onClick={onCancel} autoFocus>
            Cancel import
          </Button>
        </DialogActions>
      )}
    </>
  )
}
