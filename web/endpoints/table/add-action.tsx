import { useHasRole } from '../../api/session/person.ts'
import { AddButton } from '../../ui/form/add-button.tsx'
import { preloadForms } from '../load-forms.ts'

/** The Add endpoint button of the table and the map. Viewers see why it is missing. */
export function AddAction({ onAdd }: { onAdd: () => void }) {
  if (!useHasRole('operator')) {
    return (
      <p className="meta dim">You are a viewer. Only operators and admins can change endpoints.</p>
    )
  }
  return (
    <AddButton onClick={onAdd} onPointerEnter={preloadForms} onFocus={preloadForms}>
      Add endpoint
    </AddButton>
  )
}
