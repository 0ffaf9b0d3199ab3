import { lazy, Suspense } from 'react'
import { useHasRole } from '../api/session/person.ts'
import {
  loadAddDialog,
  loadMappingDialog,
  loadPolicyDialogs,
  loadPortDialog,
  loadRemovalDialog,
} from './load-forms.ts'
import type { EndpointRow } from './model/endpoint-rows.ts'
import { hasDialog, useEndpointsLocation } from './use-endpoints-location.ts'

const MappingDialog = lazy(async () => ({ default: (await loadMappingDialog()).MappingDialog }))
const RemoveEndpointDialog = lazy(async () => ({
  default: (await loadRemovalDialog()).RemoveEndpointDialog,
}))
const ChangePortDialog = lazy(async () => ({ default: (await loadPortDialog()).ChangePortDialog }))
const PolicyDialogs = lazy(async () => ({ default: (await loadPolicyDialogs()).PolicyDialogs }))
const LazyAdd = lazy(async () => ({ default: (await loadAddDialog()).AddEndpointDialog }))

const NotAllowedDialog = lazy(async () => ({
  default: (await import('./form/not-allowed-dialog.tsx')).NotAllowedDialog,
}))

const loadPanel = () => import('./panel/endpoint-panel.tsx')
const EndpointPanel = lazy(async () => ({ default: (await loadPanel()).EndpointPanel }))

/** The panel of the endpoint that the URL names. It leaves the table usable. */
export function EndpointPanelOutlet() {
  const { search, closePanel } = useEndpointsLocation()
  return (
    <Suspense>
      {search.open !== undefined && <EndpointPanel address={search.open} onClose={closePanel} />}
    </Suspense>
  )
}

/** The dialog of the page `/endpoints/new`. */
export function AddEndpointOutlet() {
  const { search, close } = useEndpointsLocation()
  const mayChange = useHasRole('operator')
  return (
    <Suspense>
      {mayChange ? (
        <LazyAdd like={search.like} serve={search.serve} onClose={close} />
      ) : (
        <NotAllowedDialog />
      )}
    </Suspense>
  )
}

/** The mapping, policy, removal or port dialog of the endpoint that the URL names. */
export function RowDialogs({ rows }: { rows: readonly EndpointRow[] }) {
  const { search } = useEndpointsLocation()
  const mayChange = useHasRole('operator')
  if (!mayChange) {
    return <Suspense>{hasDialog(search) && <NotAllowedDialog />}</Suspense>
  }
  const ruled = search.policy ?? search.switch
  return (
    <Suspense>
      {search.edit !== undefined && (
        <MappingDialog key={search.edit} address={search.edit} rows={rows} />
      )}
      {search.remove !== undefined && (
        <RemoveEndpointDialog key={search.remove} address={search.remove} rows={rows} />
      )}
      {search.port !== undefined && (
        <ChangePortDialog key={search.port} address={search.port} rows={rows} />
      )}
      {ruled !== undefined && (
        <PolicyDialogs
          key={`${ruled} ${search.section}`}
          address={ruled}
          rows={rows}
          isSwitch={ruled === search.switch}
        />
      )}
    </Suspense>
  )
}
