import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
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
  return <PortForm record={record} port={port} taken={rows.map((each) => each.address)} />
}

interface PortFormProps {
  readonly record: EndpointRecord
  readonly port: number | null | undefined
  readonly taken: readonly string[]
}

function PortForm({ record, port, taken }: PortFormProps) {
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
    mutationFn: () => move(queryClient, from, to, databases),
    onSuccess: () =>
      showToast({
        text: `${from} is now ${to}`,
        undo: async () => {
          await move(queryClient, to, from, databases)
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
          `Adds an endpoint at the new port with the same databases, then removes ${from}.`,
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

/** Adds an endpoint at another address, and then removes the one at the old address. */
async function move(
  queryClient: QueryClient,
  from: string,
  to: string,
  databases: readonly string[],
): Promise<void> {
  const notAdded = await changeEndpoint({ address: to, before: null, after: databases })
  const notRemoved =
    notAdded === undefined
      ? await changeEndpoint({ address: from, before: databases, after: null })
      : undefined
  await refetchEndpoints(queryClient, [from, to])
  if (notAdded !== undefined) throw new Error(notAdded)
  if (notRemoved !== undefined)
    throw new Error(`${to} was added, but ${from} could not be removed. ${notRemoved}`)
}
