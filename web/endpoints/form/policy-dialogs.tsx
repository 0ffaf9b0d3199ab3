import { useState } from 'react'
import { PolicyDialog } from '../../policy/policy-dialog.tsx'
import { SwitchDialog } from '../../policy/switch-dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { focusAfterDialog } from '../model/reveal-row.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { EndpointNotFoundDialog } from './endpoint-not-found-dialog.tsx'

/** The dialogs that change the policy of an endpoint: a section, or the switch that turns it off. */
export function PolicyDialogs(props: {
  address: string
  rows: readonly EndpointRow[]
  isSwitch?: boolean
}) {
  const { address, rows, isSwitch = false } = props
  const { search, close } = useEndpointsLocation()
  const found = rows.find(({ id }) => id === address)
  // The form stays open if someone removes the endpoint, so that its input is not lost.
  const [begun] = useState(found)
  const check = useChangeGuard(rows)
  const isRemoved = found?.databases == null && begun?.databases != null
  const row = isRemoved ? begun : found
  if (row?.databases == null) return <EndpointNotFoundDialog address={address} />
  const { databases, policy, policyRevision } = row
  if (policy === undefined) {
    return (
      <UnavailableDialog title={`Policy of ${address}`} name={address} onClose={close}>
        The policy could not be loaded.
      </UnavailableDialog>
    )
  }
  const dialog = {
    address,
    mapping: databases,
    stored: policy,
    revision: policyRevision,
    check: (after: typeof policy) =>
      isRemoved
        ? REMOVED
        : check([{ address, after: databases, policy: { before: policy, after } }]),
    renderGuard: (guard: ReturnType<ReturnType<typeof useChangeGuard>>) => (
      <GuardNotice guard={guard} />
    ),
    onClose: close,
    returnTo: focusAfterDialog(address),
  }
  return isSwitch ? (
    <SwitchDialog {...dialog} />
  ) : (
    <PolicyDialog {...dialog} section={search.section ?? 'access'} change={search} />
  )
}

/** The effects of a policy whose endpoint was removed while the form was open. */
const REMOVED = {
  refused: 'Someone removed this endpoint. Add it again before you change its policy.',
  consequences: [],
  disconnects: false,
  otherConsole: undefined,
}
