import { usePresence } from '../person.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { useAnythingKept } from '../use-kept-draft.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'

/**
 * Stands in for a form that the role does not allow (any more): whoever followed a link to it, or was
 * demoted in the middle of it, is told why it is not there.
 */
export function NotAllowedDialog() {
  const { close } = useEndpointsLocation()
  const { person } = usePresence()
  const kept = useAnythingKept()
  return (
    <ConfirmDialog
      title="Endpoints are changed by operators"
      keep="Back to the list"
      onClose={close}
    >
      <p>
        You are a {person.role}, so this form is not yours to use.
        {kept && ' What you typed is kept in this tab, in case that changes.'}
      </p>
    </ConfirmDialog>
  )
}
