import { useHasDrafts } from '../../shared/forms/draft-storage.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'

/**
 * Shown instead of a form that the user's role does not allow, for example after following a link
 * or after a demotion while editing.
 */
export function NotAllowedDialog() {
  const { close } = useEndpointsLocation()
  const ownRole = useOwnRole()
  const hasDrafts = useHasDrafts()
  return (
    <UnavailableDialog title="Only operators and admins can change endpoints" onClose={close}>
      {ownRole}. Ask an admin for that role.
      {hasDrafts && ' Your input is kept in this tab.'}
    </UnavailableDialog>
  )
}
