import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionInfo } from '../../../server/contract/access/session.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { peopleQuery } from '../../api/queries.ts'
import { describeFailure, type RequestedChange } from '../../shared/reports/failure-store.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { exactTime, RelativeTime } from '../../ui/text/relative-time.tsx'
import { sessionsQuery } from '../queries.ts'
import classes from './session-list.module.css'

const idOf = ({ id }: SessionInfo) => id

/**
 * Lists a person's open sessions (`me` for the signed-in person) and ends one, or all but the
 * current one.
 */
export function SessionList({ of }: { of: string }) {
  return (
    // Focusable for `keepFocus`.
    // biome-ignore lint/a11y/useSemanticElements: not a fieldset
    <div role="group" aria-label="Sessions" tabIndex={-1}>
      <QueryResult query={useQuery(sessionsQuery(of))} what="the sessions">
        {(sessions) =>
          sessions.length === 0 ? (
            <Notice>No open sessions.</Notice>
          ) : (
            <Sessions of={of} sessions={sessions} />
          )
        }
      </QueryResult>
    </div>
  )
}

function Sessions({ of, sessions }: { of: string; sessions: readonly SessionInfo[] }) {
  const endAll = useEndSessions(of)
  /** Errors of sessions that could not be ended, by session id. */
  const [failures, setFailures] = useState<Readonly<Record<string, Error | null>>>({})
  const others = sessions.filter(({ current }) => !current)
  const remaining = sessions.filter(({ id }) => endAll.variables?.some((ended) => ended.id === id))
  const setFailure = (id: string, error: Error | null) =>
    setFailures((all) => ({ ...all, [id]: error }))
  const runAll = () => {
    setFailures({})
    endAll.mutate(others)
  }
  const columns: readonly Column<SessionInfo>[] = [
    {
      head: 'Browser',
      cell: ({ userAgent, current }) => (
        <span className={classes.browser}>
          <span data-tip={userAgent ?? undefined}>{formatBrowser(userAgent)}</span>
          {current && <span className="chip dim">This session</span>}
        </span>
      ),
    },
    {
      head: 'Client address',
      width: 152,
      cell: ({ address }) => <span className="mono">{address ?? 'this machine'}</span>,
    },
    {
      head: 'Last used',
      width: 104,
      cell: ({ lastSeen }) => <RelativeTime time={lastSeen} tabIndex={0} />,
    },
    {
      head: 'Started',
      width: 104,
      wideOnly: true,
      cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
    },
    {
      head: 'End',
      width: 88,
      actions: true,
      cell: (session) =>
        // The person ends the current session by signing out.
        session.current ? null : (
          <EndButton
            of={of}
            session={session}
            onStart={() => {
              setFailure(session.id, null)
              if (endAll.isError) endAll.reset()
            }}
            onError={(error) => setFailure(session.id, error)}
          />
        ),
    },
  ]
  return (
    <>
      <RecordTable caption="Sessions" records={sessions} columns={columns} idOf={idOf} />
      <div role="alert" className={classes.error}>
        {sessions.map((session) => {
          const error = failures[session.id] ?? undefined
          return (
            error && (
              <p key={session.id}>
                {describeFailure(toEndChange([session]), error)} {error.message}
              </p>
            )
          )
        })}
        {endAll.error && remaining.length > 0 && (
          <p>
            {describeFailure(toEndChange(remaining), endAll.error)} {endAll.error.message}
          </p>
        )}
      </div>
      {others.length > 1 && (
        <Button
          ref={keepFocus}
          variant="default"
          mt={12}
          aria-disabled={endAll.isPending || undefined}
          onClick={() => endAll.isPending || runAll()}
        >
          {endAll.isPending
            ? 'Ending the sessions…'
            : others.length < sessions.length
              ? 'End all other sessions'
              : 'End all sessions'}
        </Button>
      )}
    </>
  )
}

/** Ends a session. Others can be ended at the same time. */
function EndButton(props: {
  of: string
  session: SessionInfo
  onStart: () => void
  onError: (error: Error) => void
}) {
  const { of, session, onStart, onError } = props
  const end = useEndSessions(of)
  const run = () => {
    onStart()
    end.mutate([session], { onError })
  }
  const described = describeSession(session)
  return (
    <Button
      ref={keepFocus}
      variant="default"
      className={classes.end}
      aria-label={
        end.isPending ? `Ending the session of ${described}…` : `End the session of ${described}`
      }
      aria-disabled={end.isPending || undefined}
      onClick={() => end.isPending || run()}
    >
      {end.isPending ? 'Ending…' : 'End'}
    </Button>
  )
}

/** Ends sessions of a person. */
function useEndSessions(person: string) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: toEndChange,
    mutationFn: (sessions: readonly SessionInfo[]) => endSessions(person, sessions),
    onSuccess: (_, { length }) =>
      showToast({ text: length === 1 ? 'Session ended' : `${length} sessions ended` }),
    // Refetch after a partial failure too, to show which sessions remain.
    onSettled: () => queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey }),
  })
}

async function endSessions(person: string, sessions: readonly SessionInfo[]): Promise<void> {
  for (const { id } of sessions) {
    const param = { id: person, session: id }
    await ignoreMissing(readJson(api._api.user[':id'].session[':session'].$delete({ param })))
  }
}

/** Describes the end of sessions in the report of a failure. */
export const toEndChange = ([session, ...others]: readonly SessionInfo[]): RequestedChange => ({
  what:
    session === undefined || others.length > 0
      ? `At least one of ${others.length + 1} sessions`
      : `The session of ${describeSession(session)}`,
  done: 'ended',
})

/** Describes a session by facts that identify it: its browser, client address and start. */
const describeSession = ({ userAgent, address, created }: SessionInfo) => {
  const client = `${formatBrowser(userAgent)} from ${address ?? 'this machine'}`
  return `${client} (started ${exactTime(Date.parse(created))})`
}

// Order matters: Edge and Opera also send `Chrome`, and Chrome also sends `Safari`.
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const

const systems = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
] as const

const first = (names: readonly (readonly [RegExp, string])[], text: string) =>
  names.find(([pattern]) => pattern.test(text))?.[1]

/** Returns a readable name for a `User-Agent` header, such as "Firefox on Linux". */
export function formatBrowser(userAgent: string | null): string {
  const browser = first(browsers, userAgent ?? '')
  const system = first(systems, userAgent ?? '')
  if (browser === undefined) return 'Unknown browser'
  return system === undefined ? browser : `${browser} on ${system}`
}
