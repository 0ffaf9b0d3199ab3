import { lazy, Suspense, useState } from 'react'
import { LazyBoundary } from '../../shared/ui/feedback/lazy-boundary.tsx'
import { UnavailableDialog } from '../../shared/ui/overlay/unavailable-dialog.tsx'
import type { BulkAction } from '../table/selection-bar.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import type { BulkDialogProps } from './bulk-dialog.tsx'

const load = () => import('./bulk-dialog.tsx')
const BulkDialog = lazy(async () => ({ default: (await load()).BulkDialog }))

/** Preloads the dialog for bulk changes. Load errors are ignored until the dialog opens. */
export function preloadBulkDialog(): void {
  load().catch(() => {})
}

/** Shows the dialog for bulk changes that the URL names. */
export function BulkDialogOutlet(props: BulkDialogProps) {
  const { search, close } = useEndpointsLocation()
  const action = search.bulk
  if (action !== 'add' && action !== 'remove-database' && action !== 'remove') return null
  return (
    <LazyBoundary>
      <Suspense>
        <SelectionDialog key={action} {...props} action={action} onClose={close} />
      </Suspense>
    </LazyBoundary>
  )
}

function SelectionDialog(props: BulkDialogProps & { action: BulkAction; onClose: () => void }) {
  // A reload clears the selection, but not the URL.
  const [isEmpty] = useState(props.selected.size === 0)
  if (!isEmpty) return <BulkDialog {...props} />
  return (
    <UnavailableDialog
      title="No endpoints are selected"
      onClose={props.onClose}
      returnTo={props.returnTo}
    >
      Select endpoints in the table to change or remove them.
    </UnavailableDialog>
  )
}
