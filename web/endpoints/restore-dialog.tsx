import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import * as z from 'zod/mini'
import type { AuditRow } from '../../server/contract/audit.ts'
import { isRestorable, POLICY_CHANGES } from '../../server/contract/audit-action.ts'
import { type Policy, policy as policySchema } from '../../server/contract/endpoints/policy.ts'
import { useAllDatabases } from '../api/all-databases.ts'
import { api, readJson } from '../api/client.ts'
import { useHasRole } from '../api/session/person.ts'
import { dropPastRemoval, samePolicy } from '../policy/rule-changes.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { changeEndpoint } from './endpoint-requests.ts'
import { showEndpointChange } from './endpoint-toast.ts'
import { MissingDefault } from './form/missing-default.tsx'
import { type ChangeGuard, type EndpointChange, guardedLabel } from './guard/check-changes.ts'
import { GuardNotice } from './guard/guard-notice.tsx'
import { useChangeGuard } from './guard/use-change-guard.ts'
import { sameState } from './model/mapping.ts'
import { refetchEndpoints } from './queries.ts'
import classes from './restore-dialog.module.css'
import { DatabaseChips } from './table/cells/database-chips.tsx'
import { RuleChanges } from './table/cells/rule-changes.tsx'
import { useEndpointRows } from './table/use-endpoint-rows.ts'

/** Restores an endpoint to its state before a row of the audit log: `/activity/restore?row=7`. */
export function RestoreDialog() {
  const { row: seq } = useSearch({ from: '/activity/restore' })
  const dialogs = useDialogNavigation()
  const close = () =>
    dialogs.close({
      to: '/activity',
      search: ({ row: _, ...rest }: Record<string, string>) => rest,
    })
  const mayChange = useHasRole('operator')
  const { data: row, error, isPending } = useQuery({ ...rowQuery(seq), enabled: mayChange })
  const { rows, failure, stateFailure } = useEndpointRows()
  const dialog = { title: 'Restore', keep: 'Close', onClose: close }
  if (!mayChange) {
    return (
      <ConfirmDialog {...dialog}>
        <p>Only operators and admins can change endpoints. Ask an admin for that role.</p>
      </ConfirmDialog>
    )
  }
  const loadError = error ?? failure ?? stateFailure
  if (loadError !== null) return <ConfirmDialog {...dialog} error={loadError.message} />
  if (isPending || rows === undefined) {
    return (
      <ConfirmDialog {...dialog}>
        <p role="status">Loading…</p>
      </ConfirmDialog>
    )
  }
  if (row === undefined) {
    return (
      <ConfirmDialog {...dialog}>
        <p>The log has no row {seq}.</p>
      </ConfirmDialog>
    )
  }
  return <Restore row={row} rows={rows} onClose={close} />
}

interface RestoreProps {
  readonly row: AuditRow
  readonly rows: NonNullable<ReturnType<typeof useEndpointRows>['rows']>
  readonly onClose: () => void
}

function Restore({ row, rows, onClose }: RestoreProps) {
  const existing = useAllDatabases()
  const check = useChangeGuard(rows)
  const address = row.target
  const current = rows.find((each) => each.id === address)
  const now = { databases: current?.databases ?? null, policy: current?.policy ?? null }
  const [openedAt] = useState(Date.now)
  const plan = planRestore(row, now, openedAt)
  const restore = useRestore()
  const dialog = { title: `Restore ${address}?`, name: address, onClose }
  // The dialog is still closing, and the plan now says that there is nothing to restore.
  if (restore.isSuccess) return null
  if (plan.kind !== 'change') {
    return (
      <ConfirmDialog {...dialog} keep="Close">
        <p>
          {plan.kind === 'same' && 'The endpoint is already in its state before this change.'}
          {plan.kind === 'removed' &&
            'There is no endpoint with these rules. To restore both, restore its removal.'}
          {plan.kind === 'impossible' && 'This row contains no endpoint state to restore.'}
        </p>
      </ConfirmDialog>
    )
  }
  const { change, conflict } = plan
  const guard = check([change])
  return (
    <ConfirmDialog
      {...dialog}
      keep={change.before === null ? 'Leave it removed' : 'Keep it as it is'}
      error={restore.error?.message ?? ''}
      {...(guard.refused === undefined && {
        confirm: {
          label: guardedLabel(guard, 'Restore', labelOf(change)),
          busy: restore.isPending,
          harmless: !guard.disconnects && change.after !== null,
          run: () => restore.mutate({ change, guard }, { onSuccess: onClose }),
        },
      })}
    >
      {conflict && (
        <p className={classes.conflict} role="status">
          The endpoint was changed again after this row. Restoring it replaces the later change.
        </p>
      )}
      {!sameState(change.before, change.after) && (
        <dl className={classes.states}>
          <dt>Now</dt>
          <dd>
            <State mapping={change.before} existing={existing} />
          </dd>
          <dt>Restored</dt>
          <dd>
            <State mapping={change.after} existing={existing} />
          </dd>
        </dl>
      )}
      {change.policy !== undefined && <RuleChanges {...change.policy} />}
      <MissingDefault mapping={change.after ?? []} existing={existing} />
      <GuardNotice guard={guard} />
    </ConfirmDialog>
  )
}

function labelOf({ before, after, policy }: EndpointChange): string {
  if (after === null) return 'Remove endpoint'
  if (before === null) return 'Restore endpoint'
  return policy === undefined ? 'Restore mapping' : 'Restore policy'
}

function State(props: {
  mapping: readonly string[] | null
  existing: readonly string[] | undefined
}) {
  if (props.mapping === null) return <span className="dim">No endpoint</span>
  return <DatabaseChips {...props} room={Number.POSITIVE_INFINITY} />
}

/** Reads one row of the audit log. */
const rowQuery = (seq: string) => ({
  queryKey: ['activity', 'row', seq],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const query = { before: `${Number(seq) + 1}`, limit: '1' }
    const { rows } = await readJson(api._api.audit.$get({ query }, { init: { signal } }))
    // TanStack Query does not accept `undefined` as data.
    return rows.find((row) => row.seq === Number(seq)) ?? null
  },
  select: (row: AuditRow | null) => row ?? undefined,
})

/** Restores an earlier state of an endpoint, and offers to undo it. */
function useRestore() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ change: { address } }) => ({ what: `Endpoint ${address}`, done: 'restored' }),
    mutationFn: async ({ change }: { change: EndpointChange; guard: ChangeGuard }) => {
      const reason = await changeEndpoint(change)
      if (reason !== undefined) throw new Error(reason)
    },
    onSuccess: (_, { change, guard }) =>
      showEndpointChange(queryClient, change, guard, `${change.address} restored`),
    onSettled: (_, __, { change: { address } }) => void refetchEndpoints(queryClient, [address]),
  })
}

/** The effect of restoring the state before an audit log row. */
type RestorePlan =
  /** The row is not an applied change of an endpoint. */
  | { readonly kind: 'impossible' }
  /** The endpoint already has the state before the row. */
  | { readonly kind: 'same' }
  /** The row is a change of a policy, and the endpoint does not exist. */
  | { readonly kind: 'removed' }
  | {
      readonly kind: 'change'
      readonly change: EndpointChange
      /** Whether the endpoint was changed again after the row. */
      readonly conflict: boolean
    }

/** The current state of an endpoint: null if it does not exist, and if it has no policy. */
interface EndpointNow {
  readonly databases: readonly string[] | null
  readonly policy: Policy | null
}

const endpointState = z.nullable(
  z.object({ databases: z.array(z.string()), policy: z.optional(policySchema) }),
)
const policyState = z.nullable(z.object({ policy: policySchema }))

/** Plans to restore the state before a row. A time of removal that has passed is dropped. */
export function planRestore(row: AuditRow, now: EndpointNow, time: number): RestorePlan {
  if (!isRestorable(row)) return { kind: 'impossible' }
  if (POLICY_CHANGES.includes(row.action)) return planPolicy(row, now, time)
  const before = endpointState.safeParse(row.before)
  const after = endpointState.safeParse(row.after)
  if (!before.success || !after.success) return { kind: 'impossible' }
  const wanted = before.data?.databases ?? null
  if (sameState(now.databases, wanted)) return { kind: 'same' }
  const change = { address: row.target, before: now.databases, after: wanted }
  const conflict = !sameState(now.databases, after.data?.databases ?? null)
  const stored = before.data?.policy
  const policy = now.databases === null ? (stored ?? null) : wanted === null ? now.policy : null
  if (policy === null) return { kind: 'change', change, conflict }
  // A removed endpoint gets its policy back, and one that is removed again loses it.
  const kept = dropPastRemoval(policy, time)
  const rules = wanted === null ? { before: policy, after: null } : { before: null, after: kept }
  return { kind: 'change', change: { ...change, policy: rules }, conflict }
}

function planPolicy(row: AuditRow, { databases, policy }: EndpointNow, time: number): RestorePlan {
  const before = policyState.safeParse(row.before)
  const after = policyState.safeParse(row.after)
  if (!before.success || !after.success) return { kind: 'impossible' }
  if (databases === null) return { kind: 'removed' }
  const wanted = before.data && dropPastRemoval(before.data.policy, time)
  if (samePolicy(policy, wanted)) return { kind: 'same' }
  const change = { address: row.target, before: databases, after: databases }
  return {
    kind: 'change',
    change: { ...change, policy: { before: policy, after: wanted } },
    conflict: !samePolicy(policy, after.data?.policy ?? null),
  }
}
