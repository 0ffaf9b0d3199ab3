import { lazy, Suspense } from 'react'
import { useMay } from '../person.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'

const loadMapping = () => import('./mapping-dialog.tsx')
const loadRemoval = () => import('./remove-endpoint-dialog.tsx')
const loadAdd = () => import('./add-endpoint-dialog.tsx')

const MappingDialog = lazy(async () => ({ default: (await loadMapping()).MappingDialog }))
const RemoveEndpointDialog = lazy(async () => ({
  default: (await loadRemoval()).RemoveEndpointDialog,
}))
const LazyAdd = lazy(async () => ({ default: (await loadAdd()).AddEndpointDialog }))

const NotAllowedDialog = lazy(async () => ({
  default: (await import('./not-allowed-dialog.tsx')).NotAllowedDialog,
}))

const loadPanel = () => import('./panel/endpoint-panel.tsx')
const EndpointPanel = lazy(async () => ({ default: (await loadPanel()).EndpointPanel }))

/** The panel of the endpoint that the URL names; beside the table, so that both can be used. */
export function PanelPlace() {
  const { search, closePanel } = useEndpointsLocation()
  return (
    <Suspense>
      {search.open !== undefined && <EndpointPanel address={search.open} onClose={closePanel} />}
    </Suspense>
  )
}

/** Loads the forms before they are asked for, once somebody is about to. Faults wait for the use. */
export function preloadForms(): void {
  for (const load of [loadAdd, loadMapping, loadRemoval]) load().catch(() => {})
}

/** The dialog in which an endpoint is added: the page `/endpoints/new`. */
export function AddEndpoint() {
  const mayChange = useMay('operator')
  return <Suspense>{mayChange ? <LazyAdd /> : <NotAllowedDialog />}</Suspense>
}

/** The dialogs of a row, as the URL names it: its mapping, and the question before its removal. */
export function RowDialogs({ rows }: { rows: readonly EndpointRow[] }) {
  const { search } = useEndpointsLocation()
  const mayChange = useMay('operator')
  if (!mayChange) {
    const asked = search.edit !== undefined || search.remove !== undefined
    return <Suspense>{asked && <NotAllowedDialog />}</Suspense>
  }
  return (
    <Suspense>
      {search.edit !== undefined && (
        <MappingDialog key={search.edit} address={search.edit} rows={rows} />
      )}
      {search.remove !== undefined && (
        <RemoveEndpointDialog key={search.remove} address={search.remove} rows={rows} />
      )}
    </Suspense>
  )
}
