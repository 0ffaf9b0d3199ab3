import { Button } from '@mantine/core'
import { useState } from 'react'
import { UNDO_TIP, useUndoKey } from '../../shared/keys/use-undo-key.ts'
import { useHasRole } from '../../shared/session/person.ts'
import { IconX } from '../../shared/ui/icon/icons.tsx'
import { IconButton } from '../../shared/ui/layout/icon-button.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import bar from '../../shared/ui/overlay/floating-bars.module.css'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import classes from './bulk-bar.module.css'
import {
  type BulkRun,
  cancelBulk,
  canUndoBulk,
  countOutcomes,
  dismissBulk,
  useUndoBulk,
} from './bulk-run.ts'
import { FailureDialog } from './failure-dialog.tsx'
import { formatBulkProgress, formatBulkResult } from './format-bulk.ts'

/** Maximum number of failures in the bar; the dialog shows the others. */
const MAX_FAILURES = 2

/** Shows the progress of a bulk change with Cancel, then its outcome with Undo. */
export function BulkBar({ run }: { run: BulkRun }) {
  return (
    // Focusable for `keepFocus`.
    <section
      aria-label="Bulk change"
      className={`${bar.bar} ${classes.bar}`}
      data-undo=""
      tabIndex={-1}
    >
      {run.end === undefined ? (
        <Progress key={run.id} run={run} />
      ) : (
        <Outcome key={run.id} run={run} />
      )}
    </section>
  )
}

function Progress({ run }: { run: BulkRun }) {
  const { total, failures } = run
  const count = countOutcomes(run)
  return (
    <>
      <div className={bar.text}>
        <p>{formatBulkProgress(run)}</p>
        <progress aria-label={formatBulkProgress(run)} max={total} value={count} />
        <p className="dim">
          {formatCount(count)} of {formatCount(total)}
          {failures.length > 0 && `, ${formatCount(failures.length)} failed`}. Stops if you close
          this tab.
        </p>
      </div>
      <div className={bar.actions}>
        <Button ref={keepFocus} variant="default" onClick={cancelBulk}>
          Cancel
        </Button>
      </div>
    </>
  )
}

function Outcome({ run }: { run: BulkRun }) {
  const { failures } = run
  const mayChange = useHasRole('operator')
  const [all, setAll] = useState(false)
  const undo = useUndoBulk()
  const canUndo = mayChange && canUndoBulk(run)
  const start = () => undo.mutate(run)
  useUndoKey(canUndo ? start : undefined)
  return (
    <>
      <div className={bar.text} role={failures.length > 0 ? 'alert' : 'status'}>
        <p>{formatBulkResult(run)}</p>
        {failures.slice(0, MAX_FAILURES).map(({ endpoint, reason }) => (
          <p key={endpoint}>
            <span className="mono">{endpoint}</span> <span className={bar.reason}>{reason}</span>
          </p>
        ))}
        <ErrorText error={undo.error} />
      </div>
      <div className={bar.actions}>
        {failures.length > MAX_FAILURES && (
          <Button variant="subtle" onClick={() => setAll(true)}>
            Show all {formatCount(failures.length)}
          </Button>
        )}
        {canUndo && (
          <Button
            ref={keepFocus}
            variant="subtle"
            aria-disabled={undo.isPending || undefined}
            data-tip={UNDO_TIP}
            onClick={start}
          >
            Undo
          </Button>
        )}
        <IconButton ref={keepFocus} aria-label="Close" onClick={dismissBulk}>
          <IconX />
        </IconButton>
      </div>
      {all && <FailureDialog failures={failures} onClose={() => setAll(false)} />}
    </>
  )
}

const ErrorText = ({ error }: { error: Error | null }) =>
  error !== null && (
    <p role="alert" className={bar.reason}>
      {error.message}
    </p>
  )
