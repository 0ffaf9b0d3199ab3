import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type PropsWithChildren, useEffect, useMemo, useState } from 'react'
import type { CurrentSession } from '../../server/contract/session.ts'
import { nameOf, PresenceContext, type Session, type SessionEnd, type SignedIn } from '../person.ts'
import { sessionQuery } from '../queries.ts'
import { DialogBanner } from '../ui/dialog-banner.ts'
import { Front } from '../ui/front.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { lastUse } from '../use-of-session.ts'
import { PendingPage } from './pending-page.tsx'
import { signInUrl } from './return-to.ts'
import { SessionBanner } from './session-banner.tsx'
import { sayWhyEnded } from './session-end.ts'

/** How often it looks whether somebody has a role, or is signed in again, in milliseconds. */
const LOOK_MS = 15_000

/**
 * Lets in whoever is signed in and has a role. Whoever is not goes to the sign-in page when the page
 * is opened; when a session ends later, the page stays as it is and says so.
 */
export function SessionGate({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery({
    ...sessionQuery,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state: { data: now } }) =>
      now === null || now?.person.role === 'pending' ? LOOK_MS : false,
  })
  // The session that the page was opened with, as it was read last.
  const [opened, setOpened] = useState<Session>()
  if (data != null && data !== opened && isOurs(data, opened)) setOpened(data)
  const end = useMemo(() => opened && judgeEnd(data, opened), [data, opened])
  useEffect(() => {
    if (end === undefined) return
    // Signed in again, perhaps in another tab: what was refused meanwhile is asked anew.
    return () => void queryClient.invalidateQueries({ predicate: isNotSession })
  }, [end, queryClient])

  const presence = useMemo(() => opened && { person: opened.person, end }, [opened, end])
  const nobody = data === null && opened === undefined
  useEffect(() => {
    if (nobody) location.replace(signInUrl(location))
  }, [nobody])

  if (presence === undefined) {
    return data === undefined && error !== null ? <Away error={error} onRetry={refetch} /> : null
  }
  if (presence.person.role === 'pending') {
    return <PendingPage person={presence.person} ended={end !== undefined} />
  }
  // Not a word of what the one has typed or may see is left before the eyes of the other.
  if (end?.by === 'another') return <Another was={presence.person} is={end.username} />
  return (
    <PresenceContext value={presence}>
      <DialogBanner value={<SessionBanner />}>{children}</DialogBanner>
    </PresenceContext>
  )
}

/** Whether a session goes on with what the page was opened with; whoever had no role yet had none. */
const isOurs = ({ person }: Session, opened: Session | undefined): boolean =>
  opened === undefined || opened.person.role === 'pending' || opened.person.id === person.id

function judgeEnd(now: CurrentSession | undefined, opened: Session): SessionEnd | undefined {
  if (now === null) {
    const why = sayWhyEnded({ session: opened, lastUse: lastUse(), now: Date.now() })
    return { by: 'sign-out', why }
  }
  if (now === undefined || isOurs(now, opened)) return undefined
  return { by: 'another', username: now.person.username }
}

const isNotSession = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryKey[0] !== sessionQuery.queryKey[0]

function Another({ was, is }: { was: SignedIn; is: string }) {
  usePageTitle('Another person is signed in')
  return (
    <Front
      title="Another person is signed in"
      actions={
        <Button variant="filled" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      <p role="alert">
        This page was opened by {nameOf(was)}. In this browser <strong>{is}</strong> is signed in
        now. Reload the page to go on as that person.
      </p>
      <p>
        What {nameOf(was)} typed is not shown, and is kept for {nameOf(was)} in this tab.
      </p>
    </Front>
  )
}

function Away({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <Front
      title="Gatehouse"
      actions={
        <Button variant="filled" onClick={() => onRetry()}>
          Try again
        </Button>
      }
    >
      <p role="alert">The console could not be opened. {error.message}</p>
    </Front>
  )
}
