import { Button } from '@mantine/core'
import { keepFocus } from '../layout/keep-focus.ts'
import { exactTime } from '../text/relative-time.tsx'
import classes from './form-frame.module.css'

/** Unsaved input of an earlier page, which the form offers to restore. */
export interface DraftOffer {
  /** When it was stored, in milliseconds since the Unix epoch. */
  readonly at: number
  readonly restore: () => void
  readonly discard: () => void
}

/** Offers to restore input that was not saved before a reload, a crash or a new sign-in. */
export function DraftNotice({ offer }: { offer: DraftOffer | undefined }) {
  if (offer === undefined) return null
  const { at, restore, discard } = offer
  return (
    <p className={classes.restored}>
      <span>
        You have unsaved input from{' '}
        <time dateTime={new Date(at).toISOString()} data-tip={exactTime(at)}>
          {formatTime(at)}
        </time>
        .
      </span>
      <span>
        <Button ref={keepFocus} variant="subtle" onClick={restore}>
          Restore
        </Button>
        <Button ref={keepFocus} variant="subtle" onClick={discard}>
          Discard
        </Button>
      </span>
    </p>
  )
}

/** Returns the time of day, with the date unless it is today. */
function formatTime(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  const date = isToday ? {} : ({ day: 'numeric', month: 'short' } as const)
  return new Intl.DateTimeFormat(undefined, { ...date, hour: '2-digit', minute: '2-digit' }).format(
    at,
  )
}
