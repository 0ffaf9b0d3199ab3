import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { PropsWithChildren } from 'react'
import { useConnection } from '../api/live/live-provider.tsx'
import { healthQuery } from '../api/queries.ts'
import { Banner } from '../ui/feedback/banner.tsx'
import { Countdown } from '../ui/feedback/countdown.tsx'

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

/**
 * Shows a warning while live updates are disconnected: since when, and when the next retry is.
 *
 * @param props.children what else the user can do.
 */
export function ConnectionBanner({ children }: PropsWithChildren) {
  const connection = useConnection()
  return (
    <Banner role="status">
      {connection.state === 'lost' && (
        <>
          <p>
            No connection since {clock.format(connection.since)}. The data shown may be out of date.{' '}
            {/* Announced once, not on every tick of the countdown. */}
            <span aria-hidden="true">
              Retrying in <Countdown to={connection.nextTry} />.
            </span>
          </p>
          {children}
          <Button variant="default" onClick={connection.tryNow}>
            Try now
          </Button>
        </>
      )}
    </Banner>
  )
}

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
