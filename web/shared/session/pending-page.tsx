import { Button } from '@mantine/core'
import { nameOf, type SignedIn } from '../../api/session/person.ts'
import { signInUrl } from '../../api/session/return-to.ts'
import { CenteredPage } from '../../ui/layout/centered-page.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { useSignOut } from './use-sign-out.ts'

/** The page for a person without a role: who is signed in, and that an admin assigns a role. */
export function PendingPage({ person, ended }: { person: SignedIn; ended: boolean }) {
  usePageTitle(ended ? 'Sign in again' : 'Waiting for a role')
  const signOut = useSignOut(person)
  if (ended) {
    return (
      <CenteredPage
        title="Sign in again"
        actions={
          <Button component="a" variant="filled" href={signInUrl(location)}>
            Sign in again
          </Button>
        }
      >
        <p role="alert">
          Your session has ended, for example because an admin assigned you a role. Sign in again to
          continue.
        </p>
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Waiting for a role"
      actions={
        <Button
          variant="default"
          aria-disabled={signOut.isPending || undefined}
          onClick={() => signOut.mutate()}
        >
          Sign out
        </Button>
      }
    >
      <p>
        You are signed in as <strong>{nameOf(person)}</strong>
        {person.name !== null && (
          <>
            {' '}
            (<span className="mono">{person.username}</span>)
          </>
        )}
        , but have no role yet.
      </p>
      <p>An admin of this server must assign you a role. This page updates automatically.</p>
      {signOut.error !== null && <p role="alert">Sign-out failed. {signOut.error.message}</p>}
    </CenteredPage>
  )
}
