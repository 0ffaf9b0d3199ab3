import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { AddressFields } from './address-fields.tsx'
import {
  addressFaults,
  canonicalAddress,
  draftLike,
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
import { NotDone } from './save-steps.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useFaults } from './use-faults.ts'
import { sayStage, useSaveEndpoint } from './use-save-endpoint.ts'

/**
 * The form in which an endpoint is added, like another where the URL names one. What the server
 * refuses leaves it as it was.
 */
export function AddEndpointDialog() {
  const { search } = useEndpointsLocation()
  const { data: endpoints, isPending } = useQuery(endpointsQuery)
  // What it is like is to be read first; without one the form opens at once.
  if (search.like !== undefined && isPending) return null
  return <AddForm key={search.like} like={search.like} endpoints={endpoints ?? []} />
}

function AddForm(props: { like: string | undefined; endpoints: readonly EndpointRecord[] }) {
  const { like, endpoints } = props
  const { close } = useEndpointsLocation()
  const taken = endpoints.map(({ endpoint }) => endpoint)
  const [begin] = useState(() => {
    if (like === undefined) return emptyDraft
    const found = endpoints.find(({ endpoint }) => endpoint === like)
    return draftLike(found ?? { endpoint: like, databases: [] }, taken)
  })
  const { draft, change, restored, forget, startAfresh } = useKeptDraft(
    like === undefined ? 'endpoint' : `endpoint like ${like}`,
    begin,
  )
  const [added, setAdded] = useState<string>()
  const { faults, raised, raise, touch } = useFaults()
  const { stage, save, stopWaiting } = useSaveEndpoint()

  const leave = () => {
    forget()
    close()
  }
  const submit = () => {
    if (raise({ ...addressFaults(draft, taken), ...mappingFaults(draft) })) return
    const address = canonicalAddress(draft)
    void save(
      { address, databases: draftMapping(draft), onlyNew: true },
      {
        onSuccess: () => {
          announce(`${address} was added.`)
          setAdded(address)
          leave()
        },
        onError: (error) =>
          raise(
            error instanceof NotDone
              ? { form: NOT_ADDED }
              : placeRefusal(error, { scheme: draft.scheme, adding: true }),
          ),
      },
    )
  }
  const parts = {
    draft,
    faults,
    onChange: (part: Partial<EndpointDraft>) => {
      stopWaiting()
      change(part)
      touch(part)
    },
  }
  const mapped = draft.reach === 'all' || draft.names.length > 0
  return (
    <Dialog
      title="Add endpoint"
      width={560}
      onClose={close}
      returnTo={() => (added === undefined ? undefined : findRow(added))}
    >
      <FormFrame
        saveLabel="Add endpoint"
        busy={stage !== 'idle'}
        progress={sayStage(stage, 'added')}
        fault={faults.form}
        raised={raised}
        sentences={mapped ? [sayMapping(draftMapping(draft))] : []}
        onStartAfresh={restored ? startAfresh : undefined}
        onSave={submit}
        onCancel={close}
      >
        <AddressFields {...parts} />
        <MappingEditor {...parts} />
      </FormFrame>
    </Dialog>
  )
}

const NOT_ADDED = 'The connection broke, and it was not added. Add it again.'
