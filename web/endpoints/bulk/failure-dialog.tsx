import { Button } from '@mantine/core'
import { Dialog, DialogActions } from '../../shared/ui/overlay/dialog.tsx'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import type { BulkFailure } from './bulk-run.ts'
import classes from './change-list.module.css'

/** Maximum number of failures listed; the rest is only counted. */
const MAX_FAILURES = 500

/** Lists the failures of a bulk change with their reasons. */
export function FailureDialog(props: { failures: readonly BulkFailure[]; onClose: () => void }) {
  const { failures, onClose } = props
  const more = failures.length - MAX_FAILURES
  return (
    <Dialog title={`${formatCount(failures.length)} changes failed`} width={640} onClose={onClose}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <ul className={classes.list} aria-label="Failures" tabIndex={0}>
        {failures.slice(0, MAX_FAILURES).map(({ endpoint, reason }) => (
          <li key={endpoint}>
            <span className="mono">{endpoint}</span>: {reason}
          </li>
        ))}
        {more > 0 && <li>and {formatCount(more)} more</li>}
      </ul>
      <DialogActions>
        <Button variant="default" onClick={onClose} data-autofocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}
