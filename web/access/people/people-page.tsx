import { useQuery } from '@tanstack/react-query'
import type { Role } from '../../../server/contract/access/principal.ts'
import { useConnection } from '../../api/live/live-provider.tsx'
import { peopleQuery } from '../../api/queries.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { usePeopleLocation } from '../use-access-location.ts'
import { Invitations } from './invitations.tsx'
import { PeopleDialogs } from './people-dialogs.tsx'
import { PeopleTable, WaitingTable } from './people-table.tsx'

/** The People page: people who wait, members, people whose access was removed, and invitations. */
export function PeoplePage() {
  const query = useQuery(peopleQuery)
  const waiting = query.data?.filter(({ role }) => role === 'pending') ?? []
  const isPaused = useConnection().state === 'paused'
  const { open } = usePeopleLocation()
  usePageTitle(waiting.length > 0 && !isPaused && `${waiting.length} waiting`, 'People', 'Access')
  return (
    <QueryResult query={query} what="the people">
      {(people) => (
        <>
          {waiting.length > 0 && (
            <Section
              title="Waiting for access"
              count={waiting.length}
              note="These people have signed in but have no access yet. Give access to those you know."
            >
              <WaitingTable people={waiting} />
            </Section>
          )}
          {groups
            .map((group) => ({ ...group, members: people.filter(({ role }) => group.has(role)) }))
            .filter(({ members, always }) => always || members.length > 0)
            .map(({ title, note, caption, members, always }) => (
              <Section
                key={title}
                title={title}
                count={members.length}
                note={note}
                action={
                  always && (
                    <AddButton onClick={() => open({ invite: 'yes' })}>Invite person</AddButton>
                  )
                }
              >
                <PeopleTable caption={caption} people={members} />
              </Section>
            ))}
          <Invitations />
          <PeopleDialogs people={people} />
        </>
      )}
    </QueryResult>
  )
}

interface Group {
  readonly title: string
  readonly note?: string
  readonly caption: string
  readonly has: (role: Role) => boolean
  /** Whether the group is shown if it is empty. */
  readonly always: boolean
}

const groups: readonly Group[] = [
  {
    title: 'People',
    caption: 'People',
    has: (role) => role !== 'pending' && role !== 'none',
    always: true,
  },
  {
    title: 'Access removed',
    note: 'These people can’t sign in, and their tokens are revoked. Assign a role to restore access.',
    caption: 'People whose access was removed',
    has: (role) => role === 'none',
    always: false,
  },
]
