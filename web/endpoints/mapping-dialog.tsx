import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../api.ts'
import { databasesQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useKeptDraft } from '../use-kept-draft.ts'
import { draftMapping, type EndpointDraft, emptyDraft, mappingFaults } from './endpoint-draft.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { GoneDialog } from './gone-dialog.tsx'
import { sameMapping, sayChange, sayMapping } from './mapping.ts'
import { MappingConflict } from './mapping-conflict.tsx'
import { MappingEditor } from './mapping-editor.tsx'
import { placeRefusal } from './refusal.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useFaults } from './use-faults.ts'
import { useSaveEndpoint } from './use-save-endpoint.ts'

/** The form in which the mapping of an endpoint is changed; the address never is. */
export function MappingDialog({
  address,
  rows,
}: {
  address: string
  rows: readonly EndpointRow[]
}) {
  const row = rows.find(({ id }) => id === address)
  // What the form began with: it survives the endpoint, so that nothing typed is lost.
  const [begun] = useState(row)
  if (begun?.databases == null) return <GoneDialog address={address} />
  return <MappingForm address={address} begun={begun.databases} row={row} first={begun} />
}

interface MappingFormProps {
  address: string
  begun: readonly string[]
  first: EndpointRow
  row: EndpointRow | undefined
}

function MappingForm({ address, begun, first, row }: MappingFormProps) {
  const { close } = useEndpointsLocation()
  const { data: existing = [] } = useQuery(databasesQuery)
  // With what it was begun from: whoever comes back to it sees what others have changed since.
  const kept = useKeptDraft(`mapping of ${address}`, {
    ...asDraft(begun),
    base: begun,
    revision: first.revision,
  })
  const { base, revision } = kept.draft
  const draft: EndpointDraft = { ...emptyDraft, ...kept.draft }
  const { faults, raised, raise, touch } = useFaults()
  const save = useSaveEndpoint()

  const change = (part: Partial<Pick<EndpointDraft, 'reach' | 'names'>>) => {
    kept.change(part)
    touch(part)
  }
  const leave = () => {
    kept.forget()
    close()
  }
  const theirs = row?.databases ?? undefined
  const moved = theirs !== undefined && !sameMapping(theirs, base)
  const submit = () => {
    if (raise(mappingFaults(draft))) return
    const refusal = { scheme: draft.scheme, adding: false }
    save.mutate(
      { address, databases: draftMapping(draft), revision },
      {
        onSuccess: () => {
          announce(`The mapping of ${address} was saved.`)
          leave()
        },
        // With 412 the list is read anew by the event of that change: theirs then stands beside.
        onError: (error) => raise(isMoved(error) ? { form: MOVED } : placeRefusal(error, refusal)),
      },
    )
  }
  const mapped = draft.reach === 'all' || draft.names.length > 0
  const sentences = mapped
    ? [sayMapping(draftMapping(draft)), ...sayChange(theirs ?? base, draftMapping(draft), existing)]
    : []
  return (
    <Dialog title={`Mapping of ${address}`} width={560} onClose={leave}>
      <FormFrame
        saveLabel="Save mapping"
        busy={save.isPending}
        fault={row === undefined ? GONE : faults.form}
        raised={raised}
        sentences={sentences}
        onStartAfresh={kept.restored ? kept.startAfresh : undefined}
        onSave={submit}
        onCancel={leave}
      >
        {moved && (
          <MappingConflict
            theirs={theirs}
            yours={mapped ? draftMapping(draft) : undefined}
            onTakeTheirs={() => {
              change(asDraft(theirs))
              kept.change({ base: theirs, revision: row?.revision })
            }}
            onKeepYours={() => kept.change({ base: theirs, revision: row?.revision })}
          />
        )}
        <MappingEditor draft={draft} faults={faults} onChange={change} first />
      </FormFrame>
    </Dialog>
  )
}

const GONE = 'This endpoint was removed in the meantime. Saving is refused; add it anew instead.'
const MOVED = 'Somebody changed this endpoint in the meantime. Compare, then save again.'

const isMoved = (error: Error) => error instanceof ApiFailure && error.status === 412

const asDraft = (mapping: readonly string[]): Pick<EndpointDraft, 'reach' | 'names'> => ({
  reach: mapping.length === 0 ? 'all' : 'only',
  names: mapping,
})
