import { lazy, Suspense } from 'react'
import { PartBoundary } from '../ui/part-boundary.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'

const load = () => import('./several-dialog.tsx')
const SeveralDialog = lazy(async () => ({ default: (await load()).SeveralDialog }))

/** Loads what is done with several, once somebody is about to. Faults wait for the use. */
export function preloadSeveral(): void {
  load().catch(() => {})
}

/** What {@link SeveralPlace} hands on. */
export interface SeveralProps {
  readonly rows: readonly EndpointRow[]
  readonly selected: ReadonlySet<string>
  /** The address through which this page came. */
  readonly here: string | undefined
  /** Tells which stay selected: those with which it could not be done. */
  readonly onLeft: (addresses: Iterable<string>) => void
  /** Where the focus goes when the bar is gone. */
  readonly returnTo: () => HTMLElement | null
}

/** Where the dialog for several endpoints stands, as the URL says it; with none selected, nothing. */
export function SeveralPlace(props: SeveralProps) {
  const { search, close } = useEndpointsLocation()
  const action = search.several
  if (action !== 'add' && action !== 'take-out' && action !== 'remove') return null
  return (
    <PartBoundary>
      <Suspense>
        <SeveralDialog key={action} {...props} action={action} onClose={close} />
      </Suspense>
    </PartBoundary>
  )
}
