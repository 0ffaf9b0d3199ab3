import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import { useOwnEndpoint } from '../../api/session/person.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { CodeInput } from '../../ui/form/code-input.tsx'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { changeEndpoint } from '../endpoint-requests.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { revealRow } from '../model/reveal-row.ts'
import { freePortQuery, refetchEndpoints } from '../queries.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import {
  canonicalAddress,
  duplicateEndpoint,
  endpointFieldGroups,
  endpointSchema,
} from './endpoint-draft.ts'
import { EndpointNotFoundDialog } from './endpoint-not-found-dialog.tsx'

/** The form that moves an endpoint to another port. It proposes a free one. */
export function ChangePortDialog(props: { address: string; rows: readonly EndpointRow[] }) {
  const { address, rows } = props
  // The row disappears before the dialog does.
  const [row] = useState(() => rows.find(({ id }) => id === address))
  const { data: port, isPending } = useQuery(freePortQuery(address))
  if (row?.databases == null) return <EndpointNotFoundDialog address={address} />
  if (isPending) return null
  const record = { endpoint: address, databases: [...row.databases] }
  const taken = rows.map((each) => each.address)
  return <PortForm record={record} policy={row.policy} port={port} taken={taken} />
}

interface PortFormProps {
  readonly record: EndpointRecord
  /** `undefined` if it could not be loaded. */
  readonly policy: Policy | null | undefined
  readonly port: number | null | undefined
  readonly taken: readonly string[]
}

function PortForm({ record, policy, port, taken }: PortFormProps) {
  const { endpoint: from, databases } = record
  const { close } = useEndpointsLocation()
  const here = useOwnEndpoint()
  const queryClient = useQueryClient()
  const copied = duplicateEndpoint(record, taken)
  const form = useDraftForm({
    initialValues: { ...copied, port: port == null ? copied.port : `${port}` },
    schema: endpointSchema(taken),
    groups: endpointFieldGroups,
  })
  const to = canonicalAddress(form.values)
  const change = useReportedMutation({
    change: () => ({ what: `Endpoint ${to}`, done: 'added' }),
    mutationFn: () => move(queryClient, { from, to, databases, policy }),
    onSuccess: () =>
      showToast({
        text: `${from} is now ${to}`,
        undo: async () => {
          await move(queryClient, { from: to, to: from, databases, policy })
          return { text: `${from} restored`, name: from }
        },
      }),
    onError: ({ message }) => form.showErrors({ port: message }),
  })
  return (
    <Dialog
      title={`Change the port of ${from}`}
      onClose={close}
      returnTo={() => (change.isSuccess ? revealRow(to) : undefined)}
    >
      <FormFrame
        form={form}
        saveLabel="Change port"
        busy={change.isPending}
        sentences={[
          `Adds an endpoint at the new port with the same databases and rules, then removes ${from}.`,
          ...(from === here
            ? ['You are connected through it; this page loses its connection.']
            : []),
        ]}
        onSave={() => form.submit(() => change.mutate(undefined, { onSuccess: close }))}
        onCancel={close}
      >
        <CodeInput
          label="Port"
          inputMode="numeric"
          data-autofocus
          {...form.getInputProps('port')}
        />
      </FormFrame>
    </Dialog>
  )
}

interface Move {
  readonly from: string
  readonly to: string
  readonly databases: readonly string[]
  readonly policy: Policy | null | undefined
}

/** Adds an endpoint at another address, and then removes the one at the old address. */
async function move(
  queryClient: QueryClient,
  { from, to, databases, policy }: Move,
): Promise<void> {
  if (policy === undefined) throw new Error('The rules of the endpoint are not known. Try again.')
  const notAdded = await changeEndpoint({
    address: to,
    before: null,
    after: databases,
    policy: policy === null ? undefined : { before: null, after: policy },
  })
  const notRemoved =
    notAdded === undefined
      ? await changeEndpoint({ address: from, before: databases, after: null })
      : undefined
  await refetchEndpoints(queryClient, [from, to])
  if (notAdded !== undefined) throw new Error(notAdded)
  if (notRemoved !== undefined)
    throw new Error(`${to} was added, but ${from} could not be removed. ${notRemoved}`)
}
