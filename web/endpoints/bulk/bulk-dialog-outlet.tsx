import { lazy, Suspense } from 'react'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { BULK_ACTIONS, type BulkAction } from '../model/selection.ts'
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
  if (!isBulkAction(action)) return null
  return (
    <LazyBoundary>
      <Suspense>
        <BulkDialog key={action} {...props} action={action} onClose={close} />
      </Suspense>
    </LazyBoundary>
  )
}

const isBulkAction = (action: string | undefined): action is BulkAction =>
  BULK_ACTIONS.some((each) => each === action)
