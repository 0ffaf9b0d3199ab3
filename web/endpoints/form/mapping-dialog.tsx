import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { databasesQuery } from '../queries.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { draftMapping, mappingFaults } from './endpoint-draft.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { findRow } from './find-row.ts'
import { GoneDialog } from './gone-dialog.tsx'
import { sayChange, sayMapping } from './mapping.ts'
import { MappingConflict } from './mapping-conflict.tsx'
import { MappingEditor } from './mapping-editor.tsx'
import { sayCutOff } from './removal.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'
import { useFaults } from './use-faults.ts'
import { type MappingDraft, useMappingDraft } from './use-mapping-draft.ts'
import { sayStage } from './use-save-endpoint.ts'
import { useSaveMapping } from './use-save-mapping.ts'
import { yourEndpoint } from './ways-in.ts'

/** The form in which the mapping of an endpoint is changed; the address never is. */
export function MappingDialog(props: { address: string; rows: readonly EndpointRow[] }) {
  const { address, rows } = props
  const row = rows.find(({ id }) => id === address)
  const [begun] = useState(row)
  const draft = useMappingDraft(address, row, begun)
  // What was typed is shown even where the endpoint is gone: nothing typed is lost.
  if (begun?.databases == null && !draft.restored) return <GoneDialog address={address} />
  return <MappingForm address={address} row={row} rows={rows} mapping={draft} />
}

interface MappingFormProps {
  readonly address: string
  /** `undefined`: the endpoint is gone. */
  readonly row: EndpointRow | undefined
  readonly rows: readonly EndpointRow[]
  readonly mapping: MappingDraft
}

function MappingForm({ address, row, rows, mapping }: MappingFormProps) {
  const { close } = useEndpointsLocation()
  const { data: existing } = useQuery(databasesQuery)
  const { draft, theirs, inConflict } = mapping
  const { faults, raised, raise, touch } = useFaults()
  const leave = () => {
    mapping.forget()
    close()
  }
  const { stage, save, stopWaiting } = useSaveMapping(address, mapping, {
    onSaved: () => {
      announce(`The mapping of ${address} was saved.`)
      leave()
    },
    onFaults: raise,
  })

  const gone = row === undefined
  const mapped = draft.reach === 'all' || draft.names.length > 0
  const submit = () => {
    if (inConflict) raise({ form: CHOOSE })
    else if (!raise(mappingFaults(draft))) save(gone)
  }
  // A conflict says by itself what has happened; settled by itself, say when they changed it back,
  // there is nothing to choose any more.
  const fault = inConflict === (faults.form === CHOOSE) ? faults.form : undefined
  const editor = useRef<HTMLDivElement>(null)
  const wasInConflict = useRef(inConflict)
  useEffect(() => {
    // The choice goes with its buttons; what was chosen has the focus then.
    const lost = wasInConflict.current && !inConflict && document.activeElement === document.body
    if (lost) editor.current?.querySelector<HTMLElement>('input:checked')?.focus()
    wasInConflict.current = inConflict
  }, [inConflict])
  const after = draftMapping(draft)
  const here = yourEndpoint(
    location,
    rows.flatMap((each) => (each.databases === null ? [] : each.address)),
  )
  const sentences = mapped
    ? [
        sayMapping(after),
        ...sayChange(theirs ?? mapping.base, after, existing ?? []),
        ...(row === undefined ? [] : sayCutOff({ row, rows, here, after })),
      ]
    : []
  return (
    <Dialog
      title={`Mapping of ${address}`}
      name={address}
      width={560}
      onClose={close}
      returnTo={() => findRow(address)}
    >
      <FormFrame
        saveLabel={gone ? 'Add it anew' : 'Save mapping'}
        busy={stage !== 'idle'}
        progress={sayStage(stage, 'saved')}
        fault={fault ?? (gone && stage === 'idle' ? GONE : undefined)}
        raised={raised}
        sentences={sentences}
        onStartAfresh={mapping.restored && !gone ? mapping.startAfresh : undefined}
        onSave={submit}
        onCancel={close}
      >
        {inConflict && theirs !== undefined && (
          <MappingConflict
            theirs={theirs}
            yours={mapped ? after : undefined}
            existing={existing}
            onTakeTheirs={() => {
              mapping.settle(true)
              raise({})
            }}
            onKeepYours={() => {
              mapping.settle(false)
              raise({})
            }}
          />
        )}
        <div ref={editor}>
          <MappingEditor
            draft={draft}
            faults={faults}
            first
            onChange={(part) => {
              stopWaiting()
              mapping.change(part)
              touch(part)
            }}
          />
        </div>
      </FormFrame>
    </Dialog>
  )
}

const CHOOSE = 'Somebody changed it in the meantime. Take theirs or keep yours first.'
const GONE =
  'Somebody removed this endpoint in the meantime. Add it anew with this mapping, or cancel.'
