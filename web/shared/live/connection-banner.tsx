import { Button } from '@mantine/core'
import { Countdown } from '../ui/countdown.tsx'
import classes from './connection-banner.module.css'
import { useConnection } from './live-provider.tsx'

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

/** Says that the page may be out of date, since when, and when the next try is; else nothing. */
export function ConnectionBanner() {
  const connection = useConnection()
  const lost = connection.state === 'lost'
  return (
    <div role="status" className={classes.place}>
      {lost && (
        <div className={classes.banner}>
          <p>
            No connection since {clock.format(connection.since)}. What you see may be out of date.{' '}
            {/* Read out once, not every second. */}
            <span aria-hidden="true">
              Trying again in <Countdown to={connection.nextTry} />.
            </span>
          </p>
          <Button variant="default" onClick={connection.tryNow}>
            Try now
          </Button>
        </div>
      )}
    </div>
  )
}
