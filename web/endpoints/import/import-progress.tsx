import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { formatCount } from '../../shared/ui/text/format-number.ts'
import { type BulkRun, cancelBulk, countOutcomes } from '../bulk/bulk-run.ts'
import { formatPlural } from './format-import.ts'
import classes from './import-progress.module.css'

/** Shows the progress of an import, with Cancel. */
export function ImportProgress({ run }: { run: BulkRun }) {
  const { total, made, unchanged, failures } = run
  const cancel = useRef<HTMLButtonElement>(null)
  // The start button, which had the focus, was removed.
  useEffect(() => cancel.current?.focus(), [])
  return (
    <section className={classes.part} aria-label="Import">
      <div className={classes.line}>
        <p>
          {formatCount(made + unchanged)} of {formatPlural(total, 'change')} made
          {failures.length > 0 && `, ${formatCount(failures.length)} failed`}
        </p>
        <Button ref={cancel} variant="default" onClick={cancelBulk}>
          Cancel
        </Button>
      </div>
      <progress aria-label="Changes made or failed" value={countOutcomes(run)} max={total} />
      <p className={classes.note}>
        Changes take effect immediately. The import continues if you go to another page of the
        console, and stops if you close or reload this tab.
      </p>
    </section>
  )
}
