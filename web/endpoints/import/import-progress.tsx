import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import { formatPlural } from './format-import.ts'
import classes from './import-progress.module.css'
import { cancelImport, type ImportRun } from './import-run.ts'

/** Shows the progress of an import, with Cancel. */
export function ImportProgress({ run }: { run: ImportRun }) {
  const { total, made, failed, cancelling } = run
  const queryClient = useQueryClient()
  const cancel = useRef<HTMLButtonElement>(null)
  // The start button, which had the focus, was removed.
  useEffect(() => cancel.current?.focus(), [])
  return (
    <section className={classes.part} aria-label="Import">
      <div className={classes.line}>
        <p>
          {formatCount(made)} of {formatPlural(total, 'change')} made
          {failed > 0 && `, ${formatCount(failed)} failed`}
        </p>
        <Button
          ref={cancel}
          variant="default"
          aria-disabled={cancelling || undefined}
          onClick={() => void cancelImport(queryClient)}
        >
          {cancelling ? 'Cancelling…' : 'Cancel'}
        </Button>
      </div>
      <progress aria-label="Changes made or failed" value={made + failed} max={total} />
      <p className={classes.note}>
        Changes take effect immediately. The import continues if you leave this page or close the
        tab.
      </p>
    </section>
  )
}
