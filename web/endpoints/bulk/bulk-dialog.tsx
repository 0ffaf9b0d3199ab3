import { Button, NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { databasesQuery } from '../../api/queries.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { SuggestField } from '../../ui/form/suggest-field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { isTypedName, TypedNameField } from '../../ui/overlay/typed-name-field.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { compareNames } from '../../ui/text/compare-names.ts'
import { showConsoleLink } from '../endpoint-toast.ts'
import { nameError } from '../form/endpoint-draft.ts'
import { type ChangeGuard, guardedLabel } from '../guard/check-changes.ts'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { BulkAction } from '../model/selection.ts'
import classes from './bulk-dialog.module.css'
import { hasChangedOwn, startBulk } from './bulk-run.ts'
import changes from './change-list.module.css'
import { ChangeList } from './change-list.tsx'
import { bulkToast } from './format-bulk.ts'
import { loadBulkBar } from './load-bulk-bar.ts'
import { type BulkPlan, planBulk, type SkippedEndpoint } from './plan-bulk.ts'

const endpoints = (count: number) => `${count} ${count === 1 ? 'endpoint' : 'endpoints'}`

const words = {
  add: {
    title: (n: number) => `Add a database to ${endpoints(n)}`,
    label: 'Add database',
    verb: 'Save',
  },
  'remove-database': {
    title: (n: number) => `Remove a database from ${endpoints(n)}`,
    label: 'Remove database',
    verb: 'Save',
  },
  'turn-off': {
    title: (n: number) => `Turn off ${endpoints(n)}?`,
    label: 'Turn off',
    verb: 'Turn off',
  },
  'turn-on': {
    title: (n: number) => `Turn on ${endpoints(n)}?`,
    label: 'Turn on',
    verb: 'Turn on',
  },
  remove: {
    title: (n: number) => `Remove ${endpoints(n)}?`,
    label: 'Remove endpoints',
    verb: 'Remove',
  },
} as const

export interface BulkDialogProps {
  readonly rows: readonly EndpointRow[]
  readonly selected: ReadonlySet<string>
  /** Address of the endpoint that serves this page. */
  readonly here: string
  /** Returns the element to focus after the bar has closed. */
  readonly returnTo: () => HTMLElement | null
}

type Props = BulkDialogProps & { action: BulkAction; onClose: () => void }

/** Number of removed endpoints above which the user types their number. */
const MAX_UNTYPED = 20

/** Shows the changes and their consequences, and asks for confirmation before a bulk change. */
export function BulkDialog(props: Props) {
  // A reload clears the selection, but not the URL.
  const [isEmpty] = useState(props.selected.size === 0)
  if (!isEmpty) return <ChangeDialog {...props} />
  return (
    <UnavailableDialog
      title="No endpoints are selected"
      onClose={props.onClose}
      returnTo={props.returnTo}
    >
      Select endpoints in the table to change or remove them.
    </UnavailableDialog>
  )
}

function ChangeDialog(props: Props) {
  const { action, rows, here, onClose, returnTo } = props
  // The end of another bulk change deselects endpoints. This dialog keeps those that it asks about.
  const [selected] = useState(props.selected)
  const { data: databases = [] } = useQuery(databasesQuery)
  const [name, setName] = useState('')
  const [submitted, setSubmitted] = useState(false)
  const check = useChangeGuard(rows)
  const bulkChange = useBulkChange(here)
  const input = { action, name: name.trim(), rows, selected, here }
  const plan = planBulk(input)
  const count = selected.size
  // Endpoints that cannot be removed are listed as skipped.
  const isNamed = action === 'add' || action === 'remove-database'
  const titled = !isNamed && plan.tasks.length > 0 ? plan.tasks.length : count
  const error = isNamed ? errorOf(action, input.name) : undefined
  const named = error === undefined
  const typedCount =
    action === 'remove' && plan.tasks.length > MAX_UNTYPED ? `${plan.tasks.length}` : undefined
  const isConfirmed = typedCount === undefined || isTypedName(name, typedCount)
  const guard = check(
    plan.tasks.map(({ row, after, policy }) => ({ address: row.address, after, policy })),
  )
  const mapped = [
    ...new Set(rows.flatMap((row) => (selected.has(row.address) ? (row.databases ?? []) : []))),
  ].sort(compareNames)
  const start = () => {
    setSubmitted(true)
    if (
      !named ||
      !isConfirmed ||
      plan.tasks.length === 0 ||
      guard.refused !== undefined ||
      bulkChange.isPending
    )
      return
    bulkChange.mutate({ plan, guard }, { onSuccess: onClose })
  }
  const field = {
    label: 'Database',
    value: name,
    error: submitted ? error : undefined,
    'data-autofocus': true,
  }
  const { title, label, verb } = words[action]
  return (
    <Dialog title={title(titled)} width={560} onClose={onClose} returnTo={returnTo}>
      <form
        className={classes.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        {action === 'add' && <SuggestField {...field} suggestions={databases} onChange={setName} />}
        {action === 'remove-database' && (
          <NativeSelect
            {...field}
            data={[{ value: '', label: 'Choose a database' }, ...mapped]}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        {named && (
          <>
            {plan.tasks.length !== count && (
              <p>
                {plan.tasks.length} of {count} will be {action === 'remove' ? 'removed' : 'changed'}
                .
              </p>
            )}
            {plan.tasks.length > 0 && <ChangeList tasks={plan.tasks} here={here} />}
            {plan.tasks.length > 0 && <GuardNotice guard={guard} />}
            <SkippedList skipped={plan.skipped} />
          </>
        )}
        {typedCount !== undefined && guard.refused === undefined && (
          <TypedNameField
            name={typedCount}
            effect="remove them"
            inputMode="numeric"
            value={name}
            error={submitted && !isConfirmed ? `Type ${typedCount} to remove them.` : undefined}
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <p role="alert" className={classes.error}>
          {bulkChange.error?.message}
        </p>
        <div className={classes.actions}>
          <Button
            variant="default"
            onClick={onClose}
            data-autofocus={(!isNamed && typedCount === undefined) || undefined}
          >
            {isNamed ? 'Cancel' : action === 'remove' ? 'Keep them' : 'Leave as is'}
          </Button>
          {(plan.tasks.length > 0 || !named) && (
            <Button
              variant={action === 'remove' || guard.disconnects ? 'danger' : 'filled'}
              type="submit"
              aria-disabled={bulkChange.isPending || guard.refused !== undefined || undefined}
            >
              {guardedLabel(guard, verb, label)}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function errorOf(action: BulkAction, name: string): string | undefined {
  if (action === 'remove-database') return name === '' ? 'Choose a database to remove.' : undefined
  return nameError(name, [])
}

/** Lists the endpoints that are not changed, grouped by reason. */
function SkippedList({ skipped }: { skipped: readonly SkippedEndpoint[] }) {
  const reasons = Map.groupBy(skipped, ({ reason }) => reason)
  return (
    <ul className={`${changes.list} ${classes.list}`}>
      {[...reasons].map(([reason, some]) => (
        <li key={reason} data-unchanged={some[0]?.isUnchanged || undefined}>
          <span className="mono">{some[0]?.address}</span>
          {some.length > 1 && ` and ${some.length - 1} more`}: {reason}
        </li>
      ))}
    </ul>
  )
}

/** Starts the bulk change of a plan. Endpoints that it leaves unchanged stay selected. */
function useBulkChange(here: string) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: () => ({ what: 'The bulk change', done: 'started' }),
    mutationFn: async ({ plan, guard }: { plan: BulkPlan; guard: ChangeGuard }) => {
      // The change disconnects this page, so the bar must be loaded before it.
      if (guard.disconnects) await loadBulkBar()
      const changes = plan.tasks.map(({ row, after, policy }) => {
        const { address: endpoint, revision, policyRevision } = row
        if (policy !== undefined) {
          return { endpoint, policy: policy.after, expectPolicy: policyRevision ?? null }
        }
        const expect = revision === undefined ? {} : { expect: revision }
        return after === null
          ? { endpoint, remove: true as const, ...expect }
          : { endpoint, databases: [...after], ...expect }
      })
      const done = plan.skipped.flatMap(({ address, isUnchanged }) => (isUnchanged ? address : []))
      return startBulk(queryClient, changes, { done })
    },
    onSuccess: ({ ended }, { plan, guard: { disconnects, otherConsole } }) => {
      const task = disconnects ? plan.tasks.find(({ row }) => row.address === here) : undefined
      void ended.then((run) => {
        if (task === undefined || otherConsole === undefined || !hasChangedOwn(run, here)) {
          return showToast(bulkToast(queryClient, run))
        }
        // Without a connection, the change cannot be undone here.
        const { row, after, policy } = task
        const change = { address: row.address, before: row.databases, after, policy }
        showConsoleLink(change, otherConsole)
      })
    },
  })
}
