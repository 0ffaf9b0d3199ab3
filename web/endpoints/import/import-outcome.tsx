import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { type BulkRun, canUndoBulk, refetchAgain, useUndoBulk } from '../bulk/bulk-run.ts'
import { formatImportResult } from './format-import.ts'
import classes from './import-outcome.module.css'

/** Shows the outcome of an import and the next steps. */
export function ImportOutcome({ run, onClear }: { run: BulkRun; onClear: () => void }) {
  const queryClient = useQueryClient()
  const sentence = useRef<HTMLParagraphElement>(null)
  // The Cancel button, which had the focus, was removed.
  useEffect(() => sentence.current?.focus(), [])
  const isDone = run.made + run.unchanged === run.total
  const undo = useUndoBulk()
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
      {undo.error !== null && <p role="alert">{undo.error.message}</p>}
      {canUndoBulk(run) && run.refetched && (
        <div>
          <Button
            variant="default"
            aria-disabled={undo.isPending || undefined}
            onClick={() => undo.mutate(run)}
          >
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
