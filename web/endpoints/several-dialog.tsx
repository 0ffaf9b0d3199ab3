import { Autocomplete, Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { databasesQuery } from '../queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { nameFault } from './endpoint-draft.ts'
import { sayOutcome } from './run-several.ts'
import type { SeveralAction } from './selection-bar.tsx'
import { type Kept, planSeveral, type SeveralPlan } from './several.ts'
import classes from './several-dialog.module.css'
import type { SeveralProps } from './several-place.tsx'
import { type SeveralProgress, useSeveral } from './use-several.ts'
import { consoleUrl } from './ways-in.ts'

const endpoints = (count: number) => `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`

const words = {
  add: { title: (n: number) => `Add a database to ${endpoints(n)}`, label: 'Add database' },
  'take-out': {
    title: (n: number) => `Take a database out of ${endpoints(n)}`,
    label: 'Take out database',
  },
  remove: { title: (n: number) => `Remove ${endpoints(n)}?`, label: 'Remove endpoints' },
} as const

/**
 * Changes several endpoints, one after the other: what will be, how far it is, and truthfully how it
 * went.
 */
export function SeveralDialog(
  props: SeveralProps & { action: SeveralAction; onClose: () => void },
) {
  const { action, rows, selected, here, onClose, returnTo } = props
  const { data: databases = [] } = useQuery(databasesQuery)
  const [name, setName] = useState('')
  const [asked, setAsked] = useState(false)
  const { progress, run, stop } = useSeveral(action, {
    here,
    onLeft: props.onLeft,
    onDone: onClose,
  })
  // What is told afterwards is of what was chosen before.
  const [begun, setBegun] = useState<{ plan: SeveralPlan; count: number }>()
  const drainSeconds = readDrainSeconds()
  const facts = { action, name: name.trim(), rows, selected, here, drainSeconds }
  const { plan, count } = begun ?? { plan: planSeveral(facts), count: selected.size }
  const fault = action === 'remove' ? undefined : faultOf(action, facts.name)
  const named = action === 'remove' || fault === undefined
  const mapped = [
    ...new Set(rows.flatMap((row) => (selected.has(row.address) ? (row.databases ?? []) : []))),
  ].sort()
  const start = () => {
    setAsked(true)
    if (fault !== undefined || plan.tasks.length === 0) return
    setBegun({ plan, count })
    void run(plan)
  }
  const running = progress !== undefined && !progress.over
  const way = plan.wayOut && consoleUrl(plan.wayOut, location)
  const field = {
    label: 'Database',
    value: name,
    error: asked ? fault : undefined,
    'data-autofocus': true,
  }
  return (
    <Dialog
      title={words[action].title(count)}
      width={560}
      onClose={running ? stop : onClose}
      returnTo={returnTo}
      deliberate={progress !== undefined}
    >
      <form
        className={classes.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (progress === undefined) start()
        }}
      >
        {progress === undefined && action === 'add' && (
          <Autocomplete
            {...field}
            data={databases}
            // By typing, an arrow or a click: at the focus it would cover the buttons.
            openOnFocus={false}
            classNames={{ input: 'mono', option: 'mono' }}
            spellCheck={false}
            autoComplete="off"
            onChange={setName}
            comboboxProps={{ withinPortal: false, floatingStrategy: 'fixed', offset: 4 }}
          />
        )}
        {progress === undefined && action === 'take-out' && (
          <NativeSelect
            {...field}
            data={[{ value: '', label: 'Choose a database' }, ...mapped]}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        {progress === undefined && named && (
          <>
            {plan.tasks.length !== count && (
              <p>
                {plan.tasks.length} of {count} will be {action === 'remove' ? 'removed' : 'changed'}
                .
              </p>
            )}
            {plan.sentences.length > 0 && <p>{plan.sentences.join(' ')}</p>}
            {way !== undefined && way !== '' && (
              <p>
                <a href={way}>Open the console at {plan.wayOut}</a>
              </p>
            )}
            <KeptList kept={plan.kept} />
          </>
        )}
        {progress !== undefined && <Outcome action={action} progress={progress} plan={plan} />}
        <div className={classes.actions}>
          {progress === undefined && (
            <>
              <Button
                variant="default"
                onClick={onClose}
                data-autofocus={action === 'remove' || undefined}
              >
                {action === 'remove' ? 'Keep them' : 'Cancel'}
              </Button>
              {(plan.tasks.length > 0 || !named) && (
                <Button variant={action === 'remove' ? 'danger' : 'filled'} type="submit">
                  {words[action].label}
                </Button>
              )}
            </>
          )}
          {running && (
            <Button variant="default" onClick={stop}>
              Stop after this one
            </Button>
          )}
          {progress?.over === true && (
            <Button variant="default" onClick={onClose} autoFocus>
              Close
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function faultOf(action: SeveralAction, name: string): string | undefined {
  if (action === 'take-out') return name === '' ? 'Choose the database to take out.' : undefined
  return nameFault(name, [])
}

/** Those that stay as they are, by their reasons. */
function KeptList({ kept }: { kept: readonly Kept[] }) {
  const reasons = Map.groupBy(kept, ({ why }) => why)
  return (
    <ul className={classes.list}>
      {[...reasons].map(([why, some]) => (
        <li key={why} data-fine={some[0]?.fine || undefined}>
          <span className="mono">{some[0]?.address}</span>
          {some.length > 1 && ` and ${some.length - 1} more`}: {why}
        </li>
      ))}
    </ul>
  )
}

function Outcome(props: { action: SeveralAction; progress: SeveralProgress; plan: SeveralPlan }) {
  const { outcome, over } = props.progress
  const { done, failures, left } = outcome
  const all = done.length + failures.length + left.length
  return (
    <>
      {!over && (
        <>
          <progress max={all} value={all - left.length}>
            {all - left.length} of {all}
          </progress>
          <p className="dim">
            {all - left.length} of {all}
          </p>
        </>
      )}
      {over && <p role="alert">{sayOutcome(props.action, outcome)}</p>}
      {over && <KeptList kept={props.plan.kept.filter(({ fine }) => !fine)} />}
      <ul className={classes.list}>
        {failures.map(({ task, reason }) => (
          <li key={task.row.id}>
            <span className="mono">{task.row.address}</span>: {reason}
          </li>
        ))}
      </ul>
    </>
  )
}

/** How long the server lets a removed endpoint drain: it writes this into the page. */
function readDrainSeconds(): number | undefined {
  const told = document.querySelector<HTMLMetaElement>('meta[name="drain-seconds"]')?.content
  const seconds = Number(told)
  return told !== undefined && told !== '' && Number.isFinite(seconds) ? seconds : undefined
}
