import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointChangeView } from '../../../server/contract/endpoints/endpoint-change.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { UNDO_TIP, useUndoKey } from '../../shared/keys/use-undo-key.ts'
import { useHasRole } from '../../shared/session/person.ts'
import { IconX } from '../../shared/ui/icon/icons.tsx'
import { IconButton } from '../../shared/ui/layout/icon-button.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import bar from '../../shared/ui/overlay/floating-bars.module.css'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import classes from './bulk-bar.module.css'
import { bulkFailuresQuery, cancelBulk, isRunning } from './bulk-requests.ts'
import { FailureDialog } from './failure-dialog.tsx'
import { formatBulkProgress, formatBulkResult } from './format-bulk.ts'
import { useUndoBulk } from './use-undo-bulk.ts'

/** Maximum number of failures in the bar; the dialog shows the others. */
const MAX_FAILURES = 2

export interface BulkBarProps {
  readonly view: EndpointChangeView
  readonly onClose: () => void
}

/** Shows the progress of a bulk change with Cancel, then its outcome with Undo. */
export function BulkBar({ view, onClose }: BulkBarProps) {
  return (
    // Focusable for `keepFocus`.
    <section
      aria-label="Bulk change"
      className={`${bar.bar} ${classes.bar}`}
      data-undo=""
      tabIndex={-1}
    >
      {isRunning(view) ? (
        <Progress key={view.id} view={view} />
      ) : (
        <Outcome key={view.id} view={view} onClose={onClose} />
      )}
    </section>
  )
}

function Progress({ view }: { view: EndpointChangeView }) {
  const mayChange = useHasRole('operator')
  const queryClient = useQueryClient()
  const cancel = useSingleMutation({ mutationFn: (id: string) => cancelBulk(queryClient, id) })
  const { total, left, failed } = view
  return (
    <>
      <div className={bar.text}>
        <p>{formatBulkProgress(view)}</p>
        <progress aria-label={formatBulkProgress(view)} max={total} value={total - left} />
        <p className="dim">
          {formatCount(total - left)} of {formatCount(total)}
          {failed > 0 && `, ${formatCount(failed)} failed`}
        </p>
        <ErrorText error={cancel.error} />
      </div>
      {mayChange && (
        <div className={bar.actions}>
          <Button
            ref={keepFocus}
            variant="default"
            aria-disabled={cancel.isPending || undefined}
            onClick={() => cancel.mutate(view.id)}
          >
            {cancel.isPending ? 'Cancelling…' : 'Cancel'}
          </Button>
        </div>
      )}
    </>
  )
}

function Outcome({ view, onClose }: BulkBarProps) {
  const { id, made, failed, undoOf } = view
  const mayChange = useHasRole('operator')
  const [all, setAll] = useState(false)
  const { data: failures = [] } = useQuery({ ...bulkFailuresQuery(id), enabled: failed > 0 })
  const undo = useUndoBulk()
  const canUndo = mayChange && made > 0 && undoOf === null
  const run = () => undo.mutate(id)
  useUndoKey(canUndo ? run : undefined)
  return (
    <>
      <div className={bar.text} role={failed > 0 ? 'alert' : 'status'}>
        <p>{formatBulkResult(view)}</p>
        {failures.slice(0, MAX_FAILURES).map(({ at, endpoint, errorMessage }) => (
          <p key={at}>
            <span className="mono">{endpoint}</span>{' '}
            <span className={bar.reason}>{errorMessage}</span>
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
            onClick={run}
          >
            Undo
          </Button>
        )}
        <IconButton ref={keepFocus} aria-label="Close" onClick={onClose}>
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
