import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { undoNow } from '../../shared/toast/toast.ts'
import { type BulkRun, canUndoBulk, refetchAgain } from '../bulk/bulk-run.ts'
import { bulkToast } from '../bulk/bulk-toast.ts'
import { formatImportResult } from './format-import.ts'
import classes from './import-outcome.module.css'

/** Shows the outcome of an import and the next steps. */
export function ImportOutcome({ run, onClear }: { run: BulkRun; onClear: () => void }) {
  const queryClient = useQueryClient()
  const sentence = useRef<HTMLParagraphElement>(null)
  // The Cancel button, which had the focus, was removed.
  useEffect(() => sentence.current?.focus(), [])
  const isDone = run.made + run.unchanged === run.total
  return (
    <div className={classes.outcome}>
      <p ref={sentence} tabIndex={-1}>
        {formatImportResult(run)}
      </p>
      {!run.refetched && (
        <>
          <p className="dim">
            The current endpoints could not be loaded. Preview again to see the remaining changes.
          </p>
          <div>
            <Button variant="filled" onClick={() => void refetchAgain(queryClient)}>
              Preview again
            </Button>
          </div>
        </>
      )}
      {canUndoBulk(run) && run.refetched && (
        <div>
          <Button variant="default" onClick={() => void undoNow(bulkToast(queryClient, run))}>
            Undo import
          </Button>
        </div>
      )}
      {isDone && run.refetched && (
        <div className={classes.actions}>
          <Link to="/endpoints">Go to Endpoints</Link>
          <Button variant="default" onClick={onClear}>
            Import another file
          </Button>
        </div>
      )}
    </div>
  )
}
