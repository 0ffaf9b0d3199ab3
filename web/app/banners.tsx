import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { useConnection } from '../api/live/live-provider.tsx'
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
