import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'

/** Shown instead of the dialog of an endpoint that does not exist. */
export function EndpointNotFoundDialog({ address }: { address: string }) {
  const { close } = useEndpointsLocation()
  return (
    <UnavailableDialog title={`There is no endpoint ${address}`} name={address} onClose={close}>
      It was removed or never existed.
    </UnavailableDialog>
  )
}

/** Shown instead of the dialog of an endpoint that was removed while the dialog was open. */
export function EndpointRemovedDialog({ address }: { address: string }) {
  const { close } = useEndpointsLocation()
  return (
    <UnavailableDialog title={`Mapping of ${address}`} name={address} onClose={close}>
      Someone removed this endpoint.
    </UnavailableDialog>
  )
}
