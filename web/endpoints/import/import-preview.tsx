import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { databasesQuery } from '../../queries.ts'
import { announce } from '../../ui/announce.tsx'
import { LoadFailure } from '../../ui/load-failure.tsx'
import { SkeletonRows } from '../../ui/skeleton-rows.tsx'
import { useEndpointRows } from '../use-endpoint-rows.ts'
import { consoleUrl, yourEndpoint } from '../ways-in.ts'
import { ImportChanges } from './import-changes.tsx'
import { judgeImport } from './import-consequences.ts'
import type { WantedEndpoint } from './import-file.ts'
import { ImportOutcome } from './import-outcome.tsx'
import { type ImportPlan, planImport } from './import-plan.ts'
import classes from './import-preview.module.css'
import { type ImportRun, startImport } from './import-run.ts'
import { sayEnd, sayMany, sayPlan } from './import-words.ts'

/** What {@link ImportPreview} compares. */
export interface ImportPreviewProps {
  readonly wanted: readonly WantedEndpoint[]
  /** Whether what is not in the file is to be removed. */
  readonly remove: boolean
  /** How many changes there were when it was first started; 0: it was not. */
  readonly started: number
  /** How the last attempt ended. */
  readonly run: ImportRun | undefined
  readonly onRemove: (remove: boolean) => void
  readonly onStart: (changes: number) => void
  /** Everything is as the file has it. */
  readonly onDone: () => void
  readonly onClear: () => void
}

/** What an import would change, compared with what is configured now, and the button that does it. */
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
  const ready = plan !== undefined
  useEffect(() => {
    // The field in which it was typed is gone from the page.
    if (ready && document.activeElement === document.body) heading.current?.focus()
  }, [ready])
  if (run?.compared === false) return <ImportOutcome run={run} onClear={onClear} />
  if (failure !== null) return <LoadFailure what="The endpoints" error={failure} onRetry={retry} />
  if (stateFailure !== null) {
    return <LoadFailure what="What runs" error={stateFailure} onRetry={retry} />
  }
  if (plan === undefined || rows === undefined) return <SkeletonRows what="the endpoints" />

  const here = yourEndpoint(
    location,
    rows.flatMap(({ address, databases: mapping }) => (mapping === null ? [] : address)),
  )
  const { refused, warnings, wayOut } = judgeImport({ plan, rows, databases, here })
  const failures = run?.failures ?? new Map<string, string>()
  const held =
    failures.size > 0 &&
    plan.changes.some(({ kind, address }) => kind === 'removed' && !failures.has(address))
  const start = async (removeAnyway: boolean) => {
    onStart(plan.changes.length)
    const ended = await startImport(plan.changes, { queryClient, here, removeAnyway })
    if (ended === undefined) return
    announce(sayEnd(ended))
    if (ended.made === ended.changes.length) onDone()
  }
  const way = wayOut === undefined ? undefined : consoleUrl(wayOut, location)
  const count = sayMany(plan.changes.length, 'change')
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
            {run === undefined ? 'What would change' : 'What is left'}
          </h2>
          <p role="status">{sayPlan(plan, remove)}</p>
          <label className={classes.others}>
            <input
              type="checkbox"
              checked={remove}
              onChange={(event) => onRemove(event.currentTarget.checked)}
            />
            Remove what is not in the file
          </label>
          {warnings.length > 0 && (
            <ul className={classes.warnings} aria-label="Before you import">
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
              {way !== undefined && (
                <li>
                  <a href={way}>Open the console at {wayOut}</a>
                </li>
              )}
            </ul>
          )}
          <p role="alert" className={classes.refused}>
            {refused}
          </p>
          {plan.changes.length > 0 && (
            <div className={classes.actions}>
              <Button
                variant="filled"
                aria-disabled={refused !== undefined || undefined}
                onClick={() => refused === undefined && void start(false)}
              >
                {failures.size > 0 ? 'Try these again' : `Import ${count}`}
              </Button>
              {held && refused === undefined && (
                <Button variant="danger" onClick={() => void start(true)}>
                  Remove the others all the same
                </Button>
              )}
            </div>
          )}
          {nothingToDo(plan) && <p className="dim">Nothing is to be done.</p>}
          <ImportChanges changes={plan.changes} failures={failures} databases={databases} />
        </>
      )}
    </div>
  )
}

const nothingToDo = ({ changes }: ImportPlan) => changes.length === 0

/** After a reload, a sign-in or a restart: what was made already is seen by comparing. */
function Interrupted({ started, left }: { started: number; left: number }) {
  if (started === 0 || left >= started) return null
  const made = started - left
  return (
    <p className={classes.interrupted}>
      This import was begun before: {sayMany(made, 'change')} {made === 1 ? 'is' : 'are'} made
      already.
    </p>
  )
}
