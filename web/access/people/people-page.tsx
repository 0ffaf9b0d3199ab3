import { useQuery } from '@tanstack/react-query'
import type { Person, Role } from '../../../server/contract/access/principal.ts'
import { useConnection } from '../../api/live/live-provider.tsx'
import { nameOf } from '../../api/session/person.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { peopleQuery } from '../queries.ts'
import { usePeopleLocation } from '../use-access-location.ts'
import { PeopleTable } from './people-table.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { SessionList } from './session-list.tsx'

/** The People page: people waiting for a role, members, and people whose access was removed. */
export function PeoplePage() {
  const query = useQuery(peopleQuery)
  const waiting = query.data?.filter(({ role }) => role === 'pending') ?? []
  const isPaused = useConnection().state === 'paused'
  usePageTitle(waiting.length > 0 && !isPaused && `${waiting.length} waiting`, 'People', 'Access')
  return (
    <QueryResult query={query} what="the people">
      {(people) => (
        <>
          {groups
            .map((group) => ({ ...group, members: people.filter(({ role }) => group.has(role)) }))
            .filter(({ members, always }) => always || members.length > 0)
            .map(({ title, note, caption, members }) => (
              <Section key={title} title={title} count={members.length} note={note}>
                <PeopleTable caption={caption} people={members} />
              </Section>
            ))}
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
    title: 'Waiting for a role',
    note: 'These people have signed in but have no access yet. Assign a role to those you know.',
    caption: 'People waiting for a role',
    has: (role) => role === 'pending',
    always: false,
  },
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

function PeopleDialogs({ people }: { people: readonly Person[] }) {
  const { search } = usePeopleLocation()
  const find = (id: string | undefined) => people.find((each) => each.id === id)
  const shown = find(search.sessions)
  const changed = find(search.change)
  if (shown !== undefined) return <SessionsDialog key={shown.id} person={shown} />
  if (changed === undefined || search.role === undefined) return null
  return <RoleDialog key={changed.id} person={changed} role={search.role} />
}

/** Dialog with the open sessions of another person. */
function SessionsDialog({ person }: { person: Person }) {
  const { close } = usePeopleLocation()
  return (
    <Dialog title={`Sessions of ${nameOf(person)}`} width={720} onClose={close}>
      <SessionList of={person.id} />
    </Dialog>
  )
}
