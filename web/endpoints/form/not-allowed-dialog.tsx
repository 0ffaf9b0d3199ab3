import { usePresence } from '../../api/session/person.ts'
import { useHasDrafts } from '../../shared/forms/draft-storage.ts'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'

/**
 * Shown instead of a form that the user's role does not allow, for example after following a link
 * or after a demotion while editing.
 */
export function NotAllowedDialog() {
  const { close } = useEndpointsLocation()
  const { person } = usePresence()
  const hasDrafts = useHasDrafts()
  return (
    <UnavailableDialog title="Only operators and admins can change endpoints" onClose={close}>
      You are a {person.role}. Ask an admin for that role.
      {hasDrafts && ' Your input is kept in this tab.'}
    </UnavailableDialog>
  )
}
