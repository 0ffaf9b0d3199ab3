import { Button } from '@mantine/core'
import { usePresence } from '../../api/session/person.ts'
import { signInUrl } from '../../api/session/return-to.ts'
import { Banner } from '../../ui/feedback/banner.tsx'
import { useHasDrafts } from '../forms/draft-storage.ts'

/**
 * Shows, on the page and in its dialogs, that the session has ended, with a link to sign in again.
 */
export function SessionBanner() {
  const { end } = usePresence()
  const hasDrafts = useHasDrafts()
  return (
    <Banner role="alert">
      {end?.by === 'sign-out' && (
        <>
          <p>
            {end.why}.{hasDrafts && ' Your input is kept.'}
          </p>
          <Button
            component="a"
            variant="filled"
            href={signInUrl(location)}
            // The location may have changed since the last render.
            onClick={(event) => {
              event.currentTarget.href = signInUrl(location)
            }}
          >
            Sign in again
          </Button>
        </>
      )}
    </Banner>
  )
}
