import { Button } from '@mantine/core'
import { usePresence } from '../person.ts'
import { useAnythingKept } from '../use-kept-draft.ts'
import { signInUrl } from './return-to.ts'
import classes from './session-banner.module.css'

/** Says that the session has ended, on the page and in its dialogs, and leads back in; else nothing. */
export function SessionBanner() {
  const { end } = usePresence()
  const kept = useAnythingKept()
  return (
    <div role="alert" className={classes.place}>
      {end?.by === 'sign-out' && (
        <div className={classes.banner}>
          <p>
            {end.why}.{kept && ' What you typed is kept.'}
          </p>
          <Button
            component="a"
            variant="filled"
            href={signInUrl(location)}
            // The page may have moved on since this was drawn.
            onClick={(event) => {
              event.currentTarget.href = signInUrl(location)
            }}
          >
            Sign in again
          </Button>
        </div>
      )}
    </div>
  )
}
