import { Button } from '@mantine/core'
import { Dialog, DialogActions } from '../../ui/overlay/dialog.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import classes from './failure-dialog.module.css'
import type { ToastFailure } from './toast.ts'

/** Maximum number of failures listed; the rest is only counted. */
const MAX_FAILURES = 500

/** Lists the parts of a change that failed, with their reasons. */
export function FailureDialog(props: { failures: readonly ToastFailure[]; onClose: () => void }) {
  const { failures, onClose } = props
  const more = failures.length - MAX_FAILURES
  return (
    <Dialog title={`${formatCount(failures.length)} changes failed`} width={640} onClose={onClose}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <ul className={classes.list} aria-label="Failures" tabIndex={0}>
        {failures.slice(0, MAX_FAILURES).map(({ name, reason }) => (
          <li key={name}>
            <bdi className="mono">{name}</bdi>: {reason}
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
