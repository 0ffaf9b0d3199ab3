import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type PropsWithChildren, useEffect, useMemo, useState } from 'react'
import {
  type CurrentSession,
  SESSION_IDLE,
  USE_RECORD_INTERVAL,
} from '../../../server/contract/access/session.ts'
import { sessionQuery } from '../../api/queries.ts'
import {
  nameOf,
  PresenceContext,
  type Session,
  type SessionEnd,
  type SignedIn,
} from '../../api/session/person.ts'
import { signInUrl } from '../../api/session/return-to.ts'
import { lastUse } from '../../api/session/session-activity.ts'
import { CenteredPage } from '../../ui/layout/centered-page.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { DialogBanner } from '../../ui/overlay/dialog-banner.ts'
import { SessionBanner } from './session-banner.tsx'
import { useSignOut } from './use-sign-out.ts'

/** Poll interval in milliseconds while the person has no role or is signed out. */
const POLL_MS = 15_000

/**
 * Renders its children for a person who is signed in and has a role. Redirects to the sign-in page
 * if no one is signed in when the page opens. If the session ends later, the page stays open and
 * shows a banner.
 */
export function SessionGate({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery({
    ...sessionQuery,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state: { data: now } }) =>
      now === null || now?.person.role === 'pending' ? POLL_MS : false,
  })
  // The session that the page was opened with, as last fetched.
  const [opened, setOpened] = useState<Session>()
  if (data != null && data !== opened && isOurs(data, opened)) setOpened(data)
  const end = useMemo(() => opened && sessionEndOf(data, opened), [data, opened])
  useEffect(() => {
    if (end === undefined) return
    // Signed in again, perhaps in another tab: refetch what the server rejected in between.
    return () => void queryClient.invalidateQueries({ predicate: isNotSession })
  }, [end, queryClient])

  const presence = useMemo(
    () => opened && { person: opened.person, end, endpoint: opened.endpoint },
    [opened, end],
  )
  const isSignedOut = data === null && opened === undefined
  useEffect(() => {
    if (isSignedOut) location.replace(signInUrl(location))
  }, [isSignedOut])

  if (presence === undefined) {
    return data === undefined && error !== null ? (
      <LoadFailed error={error} onRetry={refetch} />
    ) : null
  }
  if (presence.person.role === 'pending') {
    return <PendingPage person={presence.person} ended={end !== undefined} />
  }
  // Hide everything that the first person typed or may see from the second.
  if (end?.by === 'another') return <OtherPerson was={presence.person} is={end.username} />
  return (
    <PresenceContext value={presence}>
      <DialogBanner value={<SessionBanner />}>{children}</DialogBanner>
    </PresenceContext>
  )
}

/**
 * Whether a session belongs to the person who opened the page. A pending person has nothing to
 * protect, so any session may replace theirs.
 */
const isOurs = ({ person }: Session, opened: Session | undefined): boolean =>
  opened === undefined || opened.person.role === 'pending' || opened.person.id === person.id

function sessionEndOf(now: CurrentSession | undefined, opened: Session): SessionEnd | undefined {
  if (now === null) {
    const why = formatEndReason({ session: opened, lastUse: lastUse(), now: Date.now() })
    return { by: 'sign-out', why }
  }
  if (now === undefined || isOurs(now, opened)) return undefined
  return { by: 'another', username: now.person.username }
}

const isNotSession = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryKey[0] !== sessionQuery.queryKey[0]

function OtherPerson({ was, is }: { was: SignedIn; is: string }) {
  usePageTitle('Another person is signed in')
  return (
    <CenteredPage
      title="Another person is signed in"
      actions={
        <Button variant="filled" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      <p role="alert">
        {nameOf(was)} opened this page, but <strong>{is}</strong> is now signed in with this
        browser. Reload the page to continue as that person.
      </p>
      <p>Unsaved input of {nameOf(was)} is hidden and kept in this tab.</p>
    </CenteredPage>
  )
}

function LoadFailed({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <CenteredPage
      title="Gatehouse"
      actions={
        <Button variant="filled" onClick={() => onRetry()}>
          Try again
        </Button>
      }
    >
      <p role="alert">The console could not be opened. {error.message}</p>
    </CenteredPage>
  )
}

/** Input of {@link formatEndReason}. Times are milliseconds since the Unix epoch. */
interface SessionEndInput {
  /** The session as last fetched. */
  readonly session: Session
  /** When this page last sent a request that counted as use of the session. */
  readonly lastUse: number
  readonly now: number
}

/**
 * Returns why a session ended, as far as the page can tell, as a sentence without its final period.
 */
export function formatEndReason({ session, lastUse, now }: SessionEndInput): string {
  const { expires, idleExpires } = session
  if (expires !== null && now >= Date.parse(expires)) {
    return 'You were signed out because the session expired'
  }
  // Another page may also have used the session before it was fetched.
  const idleEnd = Math.max(lastUse + SESSION_IDLE, Date.parse(idleExpires ?? '') || 0)
  // The last uses may not be recorded, so the session may have ended this much earlier.
  if (now >= idleEnd - USE_RECORD_INTERVAL) {
    return `You were signed out after ${SESSION_IDLE / 3_600_000} hours without activity`
  }
  return 'You were signed out because this session was ended'
}

/** The page for a person without a role: who is signed in, and that an admin assigns a role. */
function PendingPage({ person, ended }: { person: SignedIn; ended: boolean }) {
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
