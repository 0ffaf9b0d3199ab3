import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useUndoBulk } from '../bulk/use-undo-bulk.ts'
import { formatImportResult } from './format-import.ts'
import classes from './import-outcome.module.css'
import { clearImport, type ImportRun, refreshPreview } from './import-run.ts'

/** Shows the outcome of an import and the next steps. */
export function ImportOutcome({ run, onClear }: { run: ImportRun; onClear: () => void }) {
  const queryClient = useQueryClient()
  const sentence = useRef<HTMLParagraphElement>(null)
  // The Cancel button, which had the focus, was removed.
  useEffect(() => sentence.current?.focus(), [])
  const done = run.made === run.total
  const undo = useUndoBulk()
  const { id } = run
  return (
    <div className={classes.outcome}>
      <p ref={sentence} tabIndex={-1}>
        {formatImportResult(run)}
      </p>
      {!run.compared && (
        <>
          <p className="dim">
            The current endpoints could not be loaded. Preview again to see the remaining changes.
          </p>
          <div>
            <Button variant="filled" onClick={() => void refreshPreview(queryClient)}>
              Preview again
            </Button>
          </div>
        </>
      )}
      {undo.error !== null && <p role="alert">{undo.error.message}</p>}
      {run.made > 0 && run.compared && id !== undefined && (
        <div>
          <Button
            variant="default"
            aria-disabled={undo.isPending || undefined}
            onClick={() => undo.mutate(id, { onSuccess: clearImport })}
          >
            Undo import
          </Button>
        </div>
      )}
      {done && run.compared && (
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
