import { Button } from '@mantine/core'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import bar from '../../ui/overlay/floating-bars.module.css'
import { formatCount } from '../../ui/text/format-number.ts'
import classes from './bulk-bar.module.css'
import { cancelBulk, countOutcomes } from './bulk-run.ts'
import type { BulkRun } from './bulk-store.ts'
import { formatBulkProgress } from './format-bulk.ts'

/** Shows the progress of a bulk change with Cancel. */
export function BulkBar({ run }: { run: BulkRun }) {
  const { total, failures } = run
  const count = countOutcomes(run)
  return (
    <section aria-label="Bulk change" className={`${bar.bar} ${classes.bar}`} data-undo="">
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
    </section>
  )
}
