import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { databasesQuery } from '../../app/queries.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { useOwnEndpoint } from '../../shared/session/person.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { LoadFailure } from '../../shared/ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../shared/ui/feedback/skeleton-rows.tsx'
import { ConfirmDialog } from '../../shared/ui/overlay/confirm-dialog.tsx'
import { type BulkRun, hasChangedOwn } from '../bulk/bulk-run.ts'
import { loadBulkBar } from '../bulk/load-bulk-bar.ts'
import { showConsoleLink } from '../endpoint-toast.ts'
import { type ChangeGuard, guardedLabel } from '../guard/check-changes.ts'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import { useEndpointRows } from '../table/use-endpoint-rows.ts'
import type { WantedEndpoint } from './file/import-file.ts'
import { formatImportResult, formatPlan, formatPlural } from './format-import.ts'
import { ImportChanges } from './import-changes.tsx'
import { ImportOutcome } from './import-outcome.tsx'
import { type ImportPlan, planImport } from './import-plan.ts'
import classes from './import-preview.module.css'
import { runImport } from './import-run.ts'
import { importWarnings } from './import-warnings.ts'

export interface ImportPreviewProps {
  readonly wanted: readonly WantedEndpoint[]
  /** Whether to remove the endpoints that are not in the file. */
  readonly remove: boolean
  /** Number of changes when the import was first started; 0 before. */
  readonly started: number
  /** The outcome of the last attempt. */
  readonly run: BulkRun | undefined
  readonly onRemove: (remove: boolean) => void
  readonly onStart: (changes: number) => void
  /** Called once the configuration matches the file. */
  readonly onDone: () => void
  readonly onClear: () => void
}

interface RequestedImport {
  readonly changes: ImportPlan['changes']
  readonly guard: ChangeGuard
  readonly removeAnyway: boolean
}

/** Previews the changes of an import against the configuration, and starts it. */
export function ImportPreview(props: ImportPreviewProps) {
  const { wanted, remove, run, onRemove, onStart, onDone, onClear } = props
  const queryClient = useQueryClient()
  const heading = useRef<HTMLHeadingElement>(null)
  const { rows, failure, stateFailure, retry } = useEndpointRows()
  const { data: databases } = useQuery(databasesQuery)
  const plan = useMemo(
    () => (rows === undefined ? undefined : planImport(wanted, rows, remove)),
    [wanted, rows, remove],
  )
  const here = useOwnEndpoint()
  const check = useChangeGuard(rows ?? [], { named: true })
  const [asking, setAsking] = useState<{ readonly removeAnyway: boolean }>()
  const importing = useSingleMutation({
    mutationFn: async ({ changes, guard, removeAnyway }: RequestedImport) => {
      // The change disconnects this page, so the bar must be loaded before it.
      if (guard.disconnects) await loadBulkBar()
      return runImport(queryClient, changes, { here, removeAnyway })
    },
    onSuccess: (ended, { changes, guard }) => {
      announce(formatImportResult(ended))
      const own = changes.find(({ address }) => address === here)
      const { disconnects, otherConsole } = guard
      if (own !== undefined && disconnects && otherConsole !== undefined) {
        if (hasChangedOwn(ended, here)) showConsoleLink(own, otherConsole)
      }
      if (ended.made + ended.unchanged === ended.total) onDone()
    },
  })
  const ready = plan !== undefined
  useEffect(() => {
    // The text field, which had the focus, was removed.
    if (ready && document.activeElement === document.body) heading.current?.focus()
  }, [ready])
  if (run?.refetched === false) return <ImportOutcome run={run} onClear={onClear} />
  if (failure !== null) return <LoadFailure what="The endpoints" error={failure} onRetry={retry} />
  if (stateFailure !== null) {
    return <LoadFailure what="The state of the endpoints" error={stateFailure} onRetry={retry} />
  }
  if (plan === undefined || rows === undefined) return <SkeletonRows what="the endpoints" />

  const guard = check(plan.changes)
  const { refused } = guard
  const warnings = importWarnings(plan, databases)
  const failures = new Map(run?.failures.map(({ endpoint, reason }) => [endpoint, reason]))
  const hasFailed = failures.size > 0
  const held =
    hasFailed &&
    plan.changes.some(({ kind, address }) => kind === 'removed' && !failures.has(address))
  const start = (removeAnyway: boolean) => {
    onStart(plan.changes.length)
    setAsking(undefined)
    importing.mutate({ changes: plan.changes, guard, removeAnyway })
  }
  const ask = (removeAnyway: boolean) => {
    if (refused !== undefined) return
    if (guard.disconnects) setAsking({ removeAnyway })
    else start(removeAnyway)
  }
  const count = formatPlural(plan.changes.length, 'change')
  return (
    <div className={classes.preview}>
      {run === undefined ? (
        <Interrupted started={props.started} left={plan.changes.length} />
      ) : (
        <ImportOutcome run={run} onClear={onClear} />
      )}
      {(run === undefined || plan.changes.length > 0) && (
        <>
          <h2 ref={heading} tabIndex={-1}>
            {run === undefined ? 'Changes' : 'Remaining changes'}
          </h2>
          <p role="status">{formatPlan(plan, remove)}</p>
          <label className={classes.others}>
            <input
              type="checkbox"
              checked={remove}
              onChange={(event) => onRemove(event.currentTarget.checked)}
            />
            Remove endpoints that are not in the file
          </label>
          {warnings.length > 0 && (
            <ul className={`warning ${classes.warnings}`} aria-label="Before you import">
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          <GuardNotice guard={guard} />
          {importing.error !== null && <p role="alert">{importing.error.message}</p>}
          {plan.changes.length > 0 && (
            <div className={classes.actions}>
              <Button
                variant="filled"
                aria-disabled={refused !== undefined || importing.isPending || undefined}
                onClick={() => ask(false)}
              >
                {hasFailed ? 'Retry failed changes' : `Import ${count}`}
              </Button>
              {held && refused === undefined && (
                <Button variant="danger" onClick={() => ask(true)}>
                  Remove the others anyway
                </Button>
              )}
            </div>
          )}
          {nothingToDo(plan) && <p className="dim">No changes needed.</p>}
          {asking !== undefined && (
            <ConfirmDialog
              title="Import and disconnect?"
              keep="Cancel"
              onClose={() => setAsking(undefined)}
              confirm={{
                label: guardedLabel(guard, 'Import', `Import ${count}`),
                busy: false,
                run: () => start(asking.removeAnyway),
              }}
            >
              <p>{formatPlan(plan, remove)}</p>
              <GuardNotice guard={guard} />
            </ConfirmDialog>
          )}
          <ImportChanges changes={plan.changes} failures={failures} databases={databases} />
        </>
      )}
    </div>
  )
}

const nothingToDo = ({ changes }: ImportPlan) => changes.length === 0

/** Shows how many changes were applied before a reload, a sign-in or a restart, by comparing. */
function Interrupted({ started, left }: { started: number; left: number }) {
  if (started === 0 || left >= started) return null
  const made = started - left
  return (
    <p className={classes.interrupted}>
      This import was interrupted after {formatPlural(made, 'change')}.
    </p>
  )
}
