import { useHasDrafts } from '../../shared/forms/draft-storage.ts'
import { usePresence } from '../../shared/session/person.ts'
import { UnavailableDialog } from '../../shared/ui/overlay/unavailable-dialog.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'

/**
 * Shown instead of a form that the user's role does not allow, for example after following a link
 * or after a demotion while editing.
 */
export function NotAllowedDialog() {
  const { close } = useEndpointsLocation()
  const { person } = usePresence()
  const kept = useHasDrafts()
  return (
    <UnavailableDialog title="Endpoints are changed by operators" onClose={close}>
      You are a {person.role}, so this form is not yours to use.
      {kept && ' What you typed is kept in this tab, in case that changes.'}
    </UnavailableDialog>
  )
}
