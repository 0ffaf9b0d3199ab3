import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ListenerStatus } from '../../server/contract/listener.ts'
import { databasesQuery } from '../queries.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { findRow } from './find-row.ts'
import { GoneDialog } from './gone-dialog.tsx'
import { readDrainSeconds } from './page-facts.ts'
import { figuresQuery } from './queries.ts'
import { judgeRemoval } from './removal.ts'
import { preloadUndo } from './undo-place.tsx'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useRemoval } from './use-removal.ts'
import { consoleUrl, yourEndpoint } from './ways-in.ts'

/** Asks before an endpoint is removed: what will happen, and why not where it cannot be. */
export function RemoveEndpointDialog(props: { address: string; rows: readonly EndpointRow[] }) {
  const { address, rows } = props
  const { close, add } = useEndpointsLocation()
  const { data: databases = [] } = useQuery(databasesQuery)
  const { data: figures } = useQuery(figuresQuery([address], false))
  const [neighbour] = useState(() => neighbourOf(address, rows))
  const remove = useRemoval(close)
  useEffect(() => void preloadUndo(), [])

  const row = rows.find(({ id }) => id === address)
  if (row === undefined) return remove.isIdle ? <GoneDialog address={address} /> : null
  const here = yourEndpoint(
    location,
    rows.flatMap((each) => (each.databases === null ? [] : each.address)),
  )
  const drainSeconds = readDrainSeconds()
  const removal = judgeRemoval({
    row: withFigures(row, figures),
    rows,
    databases,
    here,
    drainSeconds,
  })
  const way = removal.wayOut === undefined ? undefined : consoleUrl(removal.wayOut, location)
  const dialog = {
    onClose: close,
    keep: 'Keep it',
    fault: remove.error?.message ?? '',
    returnTo: () =>
      findRow(address) === null && neighbour !== undefined ? findRow(neighbour) : undefined,
  }
  if (removal.refused !== undefined) {
    return (
      <ConfirmDialog
        {...dialog}
        title={`${address} cannot be removed`}
        name={address}
        other={
          <Button variant="default" onClick={add}>
            Add endpoint
          </Button>
        }
      >
        <p>{removal.refused}</p>
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      {...dialog}
      title={`Remove ${address}?`}
      name={address}
      confirm={{
        label: 'Remove endpoint',
        busy: remove.isPending,
        run: () =>
          remove.mutate({
            row,
            wayOut: removal.own ? { to: removal.wayOut, url: way } : undefined,
          }),
      }}
    >
      {removal.own && <p>You are connected through this endpoint. This page will stop working.</p>}
      <p>{removal.consequences.join(' ')}</p>
      {way !== undefined && (
        <p>
          <a href={way}>Open the console at {removal.wayOut}</a>
        </p>
      )}
    </ConfirmDialog>
  )
}

/** With the connections of this moment, where they are read. */
function withFigures(
  row: EndpointRow,
  figures: readonly ListenerStatus[] | undefined,
): EndpointRow {
  const open = figures?.filter(({ state }) => state !== 'draining')
  if (open === undefined || open.length === 0) return row
  return { ...row, connections: open.reduce((sum, { connections }) => sum + connections, 0) }
}

/** The row that will stand where this one stood. */
function neighbourOf(address: string, rows: readonly EndpointRow[]): string | undefined {
  const at = rows.findIndex(({ id }) => id === address)
  return (rows[at + 1] ?? rows[at - 1])?.id
}
