import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { AddressFields } from './address-fields.tsx'
import {
  addressFaults,
  canonicalAddress,
  draftMapping,
  type EndpointDraft,
  emptyDraft,
  mappingFaults,
} from './endpoint-draft.ts'
import { findRow } from './find-row.ts'
import { sayMapping } from './mapping.ts'
import { MappingEditor } from './mapping-editor.tsx'
import { endpointsQuery } from './queries.ts'
import { placeRefusal } from './refusal.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useFaults } from './use-faults.ts'
import { useSaveEndpoint } from './use-save-endpoint.ts'

/** The form in which an endpoint is added. What the server refuses leaves it as it was. */
export function AddEndpointDialog() {
  const { close } = useEndpointsLocation()
  const { draft, change, restored, forget, startAfresh } = useKeptDraft('endpoint', emptyDraft)
  const [added, setAdded] = useState<string>()
  const { faults, raised, raise, touch } = useFaults()
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const save = useSaveEndpoint()

  const leave = () => {
    forget()
    close()
  }
  const submit = () => {
    const taken = endpoints.map(({ endpoint }) => endpoint)
    if (raise({ ...addressFaults(draft, taken), ...mappingFaults(draft) })) return
    const address = canonicalAddress(draft)
    save.mutate(
      { address, databases: draftMapping(draft) },
      {
        onSuccess: () => {
          announce(`${address} was added.`)
          setAdded(address)
          leave()
        },
        onError: (error) => raise(placeRefusal(error, { scheme: draft.scheme, adding: true })),
      },
    )
  }
  const parts = {
    draft,
    faults,
    onChange: (part: Partial<EndpointDraft>) => {
      change(part)
      touch(part)
    },
  }
  const mapped = draft.reach === 'all' || draft.names.length > 0
  return (
    <Dialog
      title="Add endpoint"
      width={560}
      onClose={leave}
      returnTo={() => (added === undefined ? undefined : findRow(added))}
    >
      <FormFrame
        saveLabel="Add endpoint"
        busy={save.isPending}
        fault={faults.form}
        raised={raised}
        sentences={mapped ? [sayMapping(draftMapping(draft))] : []}
        onStartAfresh={restored ? startAfresh : undefined}
        onSave={submit}
        onCancel={leave}
      >
        <AddressFields {...parts} />
        <MappingEditor {...parts} />
      </FormFrame>
    </Dialog>
  )
}
