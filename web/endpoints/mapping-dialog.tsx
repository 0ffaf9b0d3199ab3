import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { draftMapping, type EndpointDraft, emptyDraft, mappingFaults } from './endpoint-draft.ts'
import { EndpointForm } from './endpoint-form.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { GoneDialog } from './gone-dialog.tsx'
import { sameMapping, sayChange, sayMapping } from './mapping.ts'
import { MappingConflict } from './mapping-conflict.tsx'
import { MappingEditor } from './mapping-editor.tsx'
import { databasesQuery } from './queries.ts'
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
  const [base, setBase] = useState({ mapping: begun, revision: first.revision })
  const [draft, setDraft] = useState<EndpointDraft>({ ...emptyDraft, ...asDraft(begun) })
  const { faults, raised, raise, touch } = useFaults()
  const save = useSaveEndpoint()

  const change = (part: Partial<EndpointDraft>) => {
    setDraft((now) => ({ ...now, ...part }))
    touch(part)
  }
  const theirs = row?.databases ?? undefined
  const moved = theirs !== undefined && !sameMapping(theirs, base.mapping)
  const submit = () => {
    if (raise(mappingFaults(draft))) return
    const refusal = { scheme: draft.scheme, adding: false }
    save.mutate(
      { address, databases: draftMapping(draft), revision: base.revision },
      {
        onSuccess: () => {
          announce(`The mapping of ${address} was saved.`)
          close()
        },
        // With 412 the list is read anew by the event of that change: theirs then stands beside.
        onError: (error) => raise(isMoved(error) ? { form: MOVED } : placeRefusal(error, refusal)),
      },
    )
  }
  const mapped = draft.reach === 'all' || draft.names.length > 0
  const sentences = mapped
    ? [
        sayMapping(draftMapping(draft)),
        ...sayChange(theirs ?? base.mapping, draftMapping(draft), existing),
      ]
    : []
  return (
    <Dialog title={`Mapping of ${address}`} width={560} onClose={close}>
      <EndpointForm
        saveLabel="Save mapping"
        busy={save.isPending}
        fault={row === undefined ? GONE : faults.form}
        raised={raised}
        sentences={sentences}
        onSave={submit}
        onCancel={close}
      >
        {moved && (
          <MappingConflict
            theirs={theirs}
            yours={mapped ? draftMapping(draft) : undefined}
            onTakeTheirs={() => {
              change(asDraft(theirs))
              setBase({ mapping: theirs, revision: row?.revision })
            }}
            onKeepYours={() => setBase({ mapping: theirs, revision: row?.revision })}
          />
        )}
        <MappingEditor draft={draft} faults={faults} onChange={change} first />
      </EndpointForm>
    </Dialog>
  )
}

const GONE = 'This endpoint was removed in the meantime. Saving is refused; add it anew instead.'
const MOVED = 'Somebody changed this endpoint in the meantime. Compare, then save again.'

const isMoved = (error: Error) => error instanceof ApiFailure && error.status === 412

const asDraft = (mapping: readonly string[]) =>
  ({ reach: mapping.length === 0 ? 'all' : 'only', names: mapping }) as const
