import { Button } from '@mantine/core'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { type PropsWithChildren, useEffect, useMemo, useState } from 'react'
import type { CurrentSession } from '../../server/contract/session.ts'
import { PresenceContext, type Session, type SessionEnd } from '../person.ts'
import { sessionQuery } from '../queries.ts'
import { DialogBanner } from '../ui/dialog-banner.ts'
import { Front } from '../ui/front.tsx'
import { PendingPage } from './pending-page.tsx'
import { signInUrl } from './return-to.ts'
import { SessionBanner } from './session-banner.tsx'
import { sayWhyEnded } from './session-end.ts'

/** How often it looks whether somebody has a role, or is signed in again, in milliseconds. */
const LOOK_MS = 15_000

/** The session that the page was opened with, as it was read last. */
interface Opened {
  readonly session: Session
  readonly readAt: number
}

/**
 * Lets in whoever is signed in and has a role. Whoever is not goes to the sign-in page when the page
 * is opened; when a session ends later, the page stays as it is and says so.
 */
export function SessionGate({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    ...sessionQuery,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state: { data: now } }) =>
      now === null || now?.person.role === 'pending' ? LOOK_MS : false,
  })
  const [opened, setOpened] = useState<Opened>()
  if (data != null && data !== opened?.session && isOurs(data, opened)) {
    setOpened({ session: data, readAt: dataUpdatedAt })
  }
  const end = useMemo(
    () => opened && judgeEnd(data, opened, lastAnswer(queryClient)),
    [data, opened, queryClient],
  )
  useEffect(() => {
    if (end === undefined) return
    // Signed in again, perhaps in another tab: what was refused meanwhile is asked anew.
    return () => void queryClient.invalidateQueries({ predicate: isNotSession })
  }, [end, queryClient])

  const presence = useMemo(() => opened && { person: opened.session.person, end }, [opened, end])
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
  return (
    <PresenceContext value={presence}>
      <DialogBanner value={<SessionBanner />}>{children}</DialogBanner>
    </PresenceContext>
  )
}

/** Whether a session goes on with what the page was opened with; whoever had no role yet had none. */
const isOurs = ({ person }: Session, opened: Opened | undefined): boolean =>
  opened === undefined ||
  opened.session.person.role === 'pending' ||
  opened.session.person.id === person.id

function judgeEnd(
  now: CurrentSession | undefined,
  { session, readAt }: Opened,
  heard: number,
): SessionEnd | undefined {
  if (now === null) {
    const lastHeard = Math.max(readAt, heard)
    const why = sayWhyEnded({ session, readAt, lastHeard, now: Date.now() })
    return { by: 'sign-out', why }
  }
  if (now === undefined || isOurs(now, { session, readAt })) return undefined
  return { by: 'another', username: now.person.username }
}

const isNotSession = ({ queryKey }: { queryKey: readonly unknown[] }) =>
  queryKey[0] !== sessionQuery.queryKey[0]

/** When the server last answered anything that is not about the session, ms since 1970. */
const lastAnswer = (queryClient: QueryClient): number =>
  Math.max(
    0,
    ...queryClient
      .getQueryCache()
      .getAll()
      .filter(isNotSession)
      .map(({ state }) => state.dataUpdatedAt),
  )

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
