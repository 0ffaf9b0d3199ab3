import { useQueryClient } from '@tanstack/react-query'
import type { SessionInfo } from '../../../server/contract/access/session.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import type { RequestedChange } from '../../shared/reports/failure-store.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { exactTime } from '../../ui/text/relative-time.tsx'
import { formatBrowser } from '../format-browser.ts'
import { peopleQuery } from '../queries.ts'

async function endSessions(person: string, sessions: readonly SessionInfo[]): Promise<void> {
  for (const { id } of sessions) {
    const param = { id: person, session: id }
    await ignoreMissing(readJson(api._api.user[':id'].session[':session'].$delete({ param })))
  }
}

/** Describes a session by facts that identify it: its browser, client address and start. */
export const describeSession = ({ userAgent, address, created }: SessionInfo) => {
  const client = `${formatBrowser(userAgent)} from ${address ?? 'this machine'}`
  return `${client} (started ${exactTime(Date.parse(created))})`
}

/** Describes the end of sessions in the report of a failure. */
export const toEndChange = ([session, ...others]: readonly SessionInfo[]): RequestedChange => ({
  what:
    session === undefined || others.length > 0
      ? `At least one of ${others.length + 1} sessions`
      : `The session of ${describeSession(session)}`,
  done: 'ended',
})

/** Ends sessions of a person. */
export function useEndSessions(person: string) {
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
