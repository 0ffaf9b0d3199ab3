import { Button } from '@mantine/core'
import { lazy } from 'react'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { createStore, useStore } from '../../ui/store.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { PanelSection } from './panel-section.tsx'

const LiveRequests = lazy(async () => ({
  default: (await import('../../requests/live-requests.tsx')).LiveRequests,
}))

/** Whether the section follows the requests, also in the panel of the next endpoint. */
const following = createStore(false)

/** The live requests of an endpoint, on demand: they need a stream of their own. */
export function RequestsSection({ address }: { address: string }) {
  const isOpen = useStore(following)
  const { changePolicy } = useEndpointsLocation()
  return (
    <PanelSection
      title="Requests"
      action={
        <Button variant="subtle" onClick={() => following.set(!isOpen)}>
          {isOpen ? 'Stop watching' : 'Watch requests'}
        </Button>
      }
    >
      {isOpen ? (
        <LazyBoundary fallback={<SkeletonRows what="the requests" />}>
          <LiveRequests endpoint={address} onChangePolicy={changePolicy} />
        </LazyBoundary>
      ) : (
        <p className="meta dim">Shows requests as they arrive, and why some are rejected.</p>
      )}
    </PanelSection>
  )
}
