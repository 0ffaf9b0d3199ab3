import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { SessionInfo } from '../../server/contract/session.ts'
import { answer, api } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { type Column, RecordTable } from '../ui/record-table.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { sayBrowser } from './browser.ts'
import { peopleQuery, sessionsQuery } from './queries.ts'
import classes from './session-list.module.css'

const idOf = ({ id }: SessionInfo) => id

/** The open sessions of somebody (`me`: one's own), each of which can be ended, or all but this one. */
export function SessionList({ of }: { of: string }) {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery(of))
  const end = useEndSessions(of)
  if (sessions === undefined) {
    return error === null ? (
      <SkeletonRows what="the sessions" />
    ) : (
      <LoadFailure what="The sessions" error={error} onRetry={refetch} />
    )
  }
  if (sessions.length === 0) return <Notice>No session is open.</Notice>
  const others = sessions.filter(({ current }) => !current)
  const columns: readonly Column<SessionInfo>[] = [
    {
      head: 'Browser',
      cell: ({ userAgent, current }) => (
        <span className={classes.browser}>
          <span data-tip={userAgent ?? undefined}>{sayBrowser(userAgent)}</span>
          {current && <span className={classes.current}>This session</span>}
        </span>
      ),
    },
    {
      head: 'From',
      width: 152,
      cell: ({ address }) => <span className="mono">{address ?? 'this machine'}</span>,
    },
    {
      head: 'Last used',
      width: 104,
      cell: ({ lastSeen }) => <RelativeTime time={lastSeen} tabIndex={0} />,
    },
    {
      head: 'Began',
      width: 104,
      wideOnly: true,
      cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
    },
    {
      head: 'End',
      width: 72,
      actions: true,
      cell: (session) =>
        // This one is ended by signing out.
        session.current ? null : (
          <Button
            variant="default"
            className={classes.end}
            aria-label={`End the session of ${sayBrowser(session.userAgent)}`}
            onClick={() => end.isPending || end.mutate([session])}
          >
            End
          </Button>
        ),
    },
  ]
  return (
    <>
      <RecordTable caption="Sessions" records={sessions} columns={columns} idOf={idOf} />
      <p role="alert" className={classes.fault}>
        {end.error?.message}
      </p>
      {others.length > 1 && (
        <Button
          variant="default"
          mt={12}
          aria-disabled={end.isPending || undefined}
          onClick={() => end.isPending || end.mutate(others)}
        >
          {others.length < sessions.length ? 'End all other sessions' : 'End all sessions'}
        </Button>
      )}
    </>
  )
}

function useEndSessions(of: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async (sessions: readonly SessionInfo[]) => {
      for (const { id } of sessions) {
        await answer(
          api._api.user[':id'].session[':session'].$delete({ param: { id: of, session: id } }),
        )
      }
    },
    onSuccess: (_, { length }) =>
      announce(length === 1 ? 'The session was ended.' : `${length} sessions were ended.`),
    // Also where the third of five failed: the list tells which are left.
    onSettled: () => queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey }),
  })
}
