import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { endpointsQuery } from '../../api/queries.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { activeRow } from '../../ui/table/active-row.ts'
import { formatCount, formatRate } from '../../ui/text/format-number.ts'
import { deleteEndpoint } from '../endpoint-requests.ts'
import { showEndpointChange } from '../endpoint-toast.ts'
import { type ChangeGuard, guardedLabel } from '../guard/check-changes.ts'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { sumFigures } from '../model/live-figures.ts'
import { revealRow } from '../model/reveal-row.ts'
import { figuresQuery, refetchEndpoints } from '../queries.ts'
import { AddressNote } from '../table/cells/address-text.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { EndpointNotFoundDialog } from './endpoint-not-found-dialog.tsx'

/**
 * Asks for confirmation before an endpoint is removed: shows the consequences, or why the endpoint
 * cannot be removed.
 */
export function RemoveEndpointDialog(props: { address: string; rows: readonly EndpointRow[] }) {
  const { address, rows } = props
  const { close, add } = useEndpointsLocation()
  const { data: figures } = useQuery(figuresQuery([address], false))
  const [neighbor] = useState(() => neighborOf(address))
  const remove = useRemoval()

  const row = rows.find(({ id }) => id === address)
  const busy = currentFigures(figures)
  const check = useChangeGuard(rows.map((each) => (each === row ? { ...each, ...busy } : each)))
  if (row === undefined) return remove.isIdle ? <EndpointNotFoundDialog address={address} /> : null
  const guard = check([{ address, after: null }])
  const dialog = {
    onClose: close,
    keep: 'Keep it',
    error: remove.error?.message ?? '',
    returnTo: () => {
      if (revealRow(address) !== null) return undefined
      return (neighbor === undefined ? null : revealRow(neighbor)) ?? activeRow()
    },
  }
  if (guard.refused !== undefined) {
    return (
      <ConfirmDialog
        {...dialog}
        keep="Close"
        title={`${address} cannot be removed`}
        name={address}
        other={
          <Button variant="default" onClick={add}>
            Add endpoint
          </Button>
        }
      >
        <p>{guard.refused}</p>
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      {...dialog}
      title={`Remove ${address}?`}
      name={address}
      confirm={{
        label: guardedLabel(guard, 'Remove', 'Remove endpoint'),
        busy: remove.isPending,
        run: () => remove.mutate({ row, guard }, { onSuccess: close }),
      }}
    >
      <AddressNote policy={row.policy} />
      {busy !== undefined && busy.requestsPerSecond > 0 && (
        <p>
          It serves {formatRate(busy.requestsPerSecond)} requests/s over{' '}
          {formatCount(busy.connections)} {busy.connections === 1 ? 'connection' : 'connections'}.
        </p>
      )}
      <GuardNotice guard={guard} />
    </ConfirmDialog>
  )
}

/** Returns the current connections and rate of the listeners, if they were read. */
function currentFigures(listeners: readonly ListenerStatus[] | undefined) {
  const open = listeners?.filter(({ state }) => state !== 'draining')
  if (open === undefined || open.length === 0) return undefined
  const { connections, requestsPerSecond } = sumFigures(open)
  return { connections, requestsPerSecond }
}

/** Returns the id of the displayed row that takes the place of a removed one. */
function neighborOf(address: string): string | undefined {
  const row = document.querySelector(`[data-row="${CSS.escape(address)}"]`)
  const rows = [row?.nextElementSibling, row?.previousElementSibling]
  return rows.flatMap((each) => (each as HTMLElement | null | undefined)?.dataset.row ?? [])[0]
}

/** An endpoint to remove, with the result of {@link checkChanges}. */
interface RemovalInput {
  readonly row: EndpointRow
  readonly guard: ChangeGuard
}

/**
 * Removes an endpoint. Then offers to undo it or, if the page is disconnected, links to the console
 * at another endpoint.
 */
function useRemoval() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ row }) => ({ what: `Endpoint ${row.address}`, done: 'removed' }),
    mutationFn: ({ row }: RemovalInput) => deleteEndpoint(row.address, row.revision),
    onSuccess: (removed, { row, guard }) => {
      const { address, policy } = row
      // Remove it from the cache at once: a disconnected page cannot refetch the list.
      queryClient.setQueryData(endpointsQuery.queryKey, (list: EndpointRecord[] | undefined) =>
        list?.filter(({ endpoint }) => endpoint !== address),
      )
      // Don't offer to undo a removal by another user, or one that would lose the rules.
      const before = removed && policy !== undefined ? (row.databases ?? []) : null
      const change = { address, before, after: null }
      showEndpointChange(
        queryClient,
        policy && before !== null ? { ...change, policy: { before: policy, after: null } } : change,
        guard,
      )
      void refetchEndpoints(queryClient, [address])
    },
  })
}
