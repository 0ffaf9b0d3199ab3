import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useAllDatabases } from '../../api/all-databases.ts'
import { FormFrame } from '../../ui/form/form-frame.tsx'
import { Conflict } from '../../ui/overlay/conflict.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { showEndpointChange } from '../endpoint-toast.ts'
import { guardedLabel } from '../guard/check-changes.ts'
import { GuardNotice } from '../guard/guard-notice.tsx'
import { useChangeGuard } from '../guard/use-change-guard.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { formatChange, formatMapping, sameMapping } from '../model/mapping.ts'
import { focusAfterDialog } from '../model/reveal-row.ts'
import { DatabaseChips } from '../table/cells/database-chips.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { draftMapping } from './endpoint-draft.ts'
import { EndpointNotFoundDialog, EndpointRemovedDialog } from './endpoint-not-found-dialog.tsx'
import { MappingEditor } from './mapping/mapping-editor.tsx'
import { type MappingDraft, useMappingDraft } from './mapping/use-mapping-draft.ts'
import { formatStage } from './use-save-endpoint.ts'
import { useSaveMapping } from './use-save-mapping.ts'

/** The form that changes the mapping of an endpoint. The address cannot be changed. */
export function MappingDialog(props: { address: string; rows: readonly EndpointRow[] }) {
  const { address, rows } = props
  const row = rows.find(({ id }) => id === address)
  const [begun] = useState(row)
  const draft = useMappingDraft(address, row, begun)
  // Unsaved input is offered even if the endpoint was removed, so that it is not lost.
  if (begun?.databases == null && !hasInput(draft))
    return <EndpointNotFoundDialog address={address} />
  // A record that was removed while its form is open. Without changes, there is nothing to add again.
  if (row === undefined && !isChanged(draft) && !hasInput(draft))
    return <EndpointRemovedDialog address={address} />
  return <MappingForm address={address} row={row} rows={rows} mapping={draft} />
}

/** Whether there is input from an earlier page. */
const hasInput = ({ form: { offer, restored } }: MappingDraft): boolean =>
  offer !== undefined || restored !== undefined

const isChanged = ({ draft, base }: MappingDraft): boolean =>
  draft.typing !== '' || !sameMapping(draftMapping(draft), base)

interface MappingFormProps {
  readonly address: string
  /** `undefined` if the endpoint was removed. */
  readonly row: EndpointRow | undefined
  readonly rows: readonly EndpointRow[]
  readonly mapping: MappingDraft
}

function MappingForm({ address, row, rows, mapping }: MappingFormProps) {
  const { close } = useEndpointsLocation()
  const queryClient = useQueryClient()
  const existing = useAllDatabases()
  const { draft, form, theirs, inConflict } = mapping
  const gone = row === undefined
  const mapped = draft.reach === 'all' || draft.names.length > 0
  const after = draftMapping(draft)
  const check = useChangeGuard(rows)
  const guard = mapped && !gone ? check([{ address, after }]) : undefined
  const { stage, save, stopWaiting } = useSaveMapping(address, mapping, {
    onSaved: (change) => {
      showEndpointChange(queryClient, change, guard)
      form.deleteDraft()
    },
    close,
    onErrors: form.showErrors,
  })

  const saveLabel = guard ? guardedLabel(guard, 'Save', 'Save mapping') : 'Save mapping'
  const refused = guard?.refused
  const submit = () => {
    if (inConflict) return form.showErrors({ form: CHOOSE })
    form.submit(() => {
      if (refused === undefined) save(gone)
      else form.showErrors({ form: refused })
    })
  }
  // The message is out of date once there is a conflict to show, or once the conflict is resolved
  // without a choice, for example because the other user reverted the change.
  const error = inConflict === (form.errors.form === CHOOSE) ? form.errors.form : undefined
  const editor = useRef<HTMLDivElement>(null)
  const wasInConflict = useRef(inConflict)
  useEffect(() => {
    // The conflict buttons disappear with the focus; focus the selected choice instead.
    const lost = wasInConflict.current && !inConflict && document.activeElement === document.body
    if (lost) editor.current?.querySelector<HTMLElement>('input:checked')?.focus()
    wasInConflict.current = inConflict
  }, [inConflict])
  const sentences = mapped
    ? [
        formatMapping(after, existing),
        ...formatChange(theirs ?? mapping.base, after, existing ?? []),
        ...(guard?.disconnects === false ? guard.consequences : []),
      ]
    : []
  return (
    <Dialog
      title={`Mapping of ${address}`}
      name={address}
      width={560}
      onClose={close}
      returnTo={focusAfterDialog(address)}
    >
      <FormFrame
        form={form}
        saveLabel={gone ? 'Add it again' : saveLabel}
        buttonOnly={gone}
        danger={guard?.disconnects === true}
        busy={stage !== 'idle'}
        progress={formatStage(stage, 'saved')}
        error={
          (error === refused ? undefined : error) ??
          (gone && stage === 'idle' ? REMOVED_MESSAGE : null)
        }
        sentences={sentences}
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
              form.clearErrors()
            }}
            onKeepYours={() => {
              mapping.settle(false)
              form.clearErrors()
            }}
          />
        )}
        <div ref={editor}>
          <MappingEditor
            draft={draft}
            errors={form.errors}
            first
            onChange={(changes) => {
              stopWaiting()
              form.setValues(changes)
            }}
          />
        </div>
        {(guard?.disconnects === true || refused !== undefined) && guard && (
          <GuardNotice guard={guard} />
        )}
      </FormFrame>
    </Dialog>
  )
}

const CHOOSE = 'Choose “Take theirs” or “Keep mine” first.'
const REMOVED_MESSAGE =
  'Someone removed this endpoint. Your changes were not saved. Add it again with this mapping, or cancel.'

interface MappingConflictProps {
  readonly theirs: readonly string[]
  /** `undefined` if no database is chosen. */
  readonly yours: readonly string[] | undefined
  readonly existing: readonly string[] | undefined
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Show all names, so that the mappings can be compared. */
const UNLIMITED = Number.POSITIVE_INFINITY

/** Shows the mapping saved by another user beside the edited one, and asks which to keep. */
function MappingConflict({ theirs, yours, existing, ...choice }: MappingConflictProps) {
  const chips = (mapping: readonly string[]) => (
    <DatabaseChips mapping={mapping} existing={existing} room={UNLIMITED} />
  )
  return (
    <Conflict
      message="Someone changed this mapping while you were editing it. Your changes were not saved. Compare, choose, then save again."
      theirs={{ label: 'Theirs (saved)', value: chips(theirs) }}
      yours={{
        label: 'Yours (not saved)',
        value: yours === undefined ? 'No databases' : chips(yours),
      }}
      {...choice}
    />
  )
}
