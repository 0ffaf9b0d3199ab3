import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { useEndpointsLocation } from './use-endpoints-location.ts'

/** Stands in for the dialog of an endpoint that is not there (any more). */
export function GoneDialog({ address }: { address: string }) {
  const { close } = useEndpointsLocation()
  return (
    <ConfirmDialog
      title={`There is no endpoint ${address}`}
      name={address}
      keep="Back to the list"
      onClose={close}
    >
      <p>It was removed, or never was.</p>
    </ConfirmDialog>
  )
}
