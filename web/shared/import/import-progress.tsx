import { Button } from '@mantine/core'
import { useId } from 'react'
import { DialogActions } from '../ui/overlay/dialog.tsx'
import classes from './import.module.css'
import type { CancellableImport } from './use-cancellable-import.ts'

/** Shows the share of the source that was sent, with Cancel. Asks before the dialog is closed. */
export function ImportProgress({ running }: { running: CancellableImport }) {
  const { share, isLeaving, setLeaving, cancel, cancelAndClose } = running
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
            <Button variant="default" onClick={cancelAndClose}>
              Cancel import and close
            </Button>
            <Button
              variant="filled"
              onClick={() => setLeaving(false)}
              aria-describedby={question}
              autoFocus
            >
              Keep importing
            </Button>
          </DialogActions>
        </>
      ) : (
        <DialogActions>
          <Button variant="default" onClick={cancel} autoFocus>
            Cancel import
          </Button>
        </DialogActions>
      )}
    </>
  )
}
