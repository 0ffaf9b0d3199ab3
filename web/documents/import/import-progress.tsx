import { Button } from '@mantine/core'
import { DialogActions } from '../../shared/ui/overlay/dialog.tsx'
import classes from './import-dialog.module.css'

/** Shows the share of the source that was imported, with Cancel. */
export function ImportProgress({ share, onCancel }: { share: number; onCancel: () => void }) {
  const percent = Math.floor(share * 100)
  return (
    <>
      <progress
        className={classes.progress}
        aria-label="Importing documents"
        max={100}
        value={percent}
      />
      <p role="status" className="dim">
        {share < 1 ? `${percent} % sent. ` : 'Waiting for the last documents. '}
        Keep this page open. If you cancel, documents that were stored before are kept.
      </p>
      <DialogActions>
        <Button variant="default" onClick={onCancel} autoFocus>
          Cancel import
        </Button>
      </DialogActions>
    </>
  )
}
