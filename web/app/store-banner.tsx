import { useQuery } from '@tanstack/react-query'
import { useConnection } from '../api/live/live-provider.tsx'
import { healthQuery } from '../api/queries.ts'
import { Banner } from '../ui/feedback/banner.tsx'

/** Shows a warning while the server cannot store changes, with the reason. */
export function StoreBanner() {
  const { data: health } = useQuery(healthQuery)
  const isLost = useConnection().state === 'lost'
  return (
    <Banner role="status">
      {health?.writable === false && !isLost && (
        <p>
          <strong>Changes cannot be saved at the moment.</strong> {health.reason} Stored data can
          still be read. This message disappears when changes can be saved again.
        </p>
      )}
    </Banner>
  )
}
