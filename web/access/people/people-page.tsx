import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Person, Role } from '../../../server/contract/access/principal.ts'
import { useConnection } from '../../api/live/live-provider.tsx'
import { peopleQuery } from '../../api/queries.ts'
import { nameOf, usePresence } from '../../api/session/person.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { withoutDatabases } from '../roles.ts'
import { ScopeNames } from '../scope/scope-names.tsx'
import { useAccessLocation } from '../use-access-location.ts'
import { Invitations } from './invitations.tsx'
import classes from './people.module.css'
import { AccessButtons, PeopleDialogs } from './person-access.tsx'

/** The People page: people who wait, members, people whose access was removed, and invitations. */
export function PeoplePage() {
  const query = useQuery(peopleQuery)
  const waiting = query.data?.filter(({ role }) => role === 'pending').length ?? 0
  const isPaused = useConnection().state === 'paused'
  const { open } = useAccessLocation()
  usePageTitle(waiting > 0 && !isPaused && `${waiting} waiting`, 'People', 'Access')
  return (
    <QueryResult query={query} what="the people">
      {(people) => (
        <>
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
  readonly always?: true
}

const groups: readonly Group[] = [
  {
    title: 'Waiting for access',
    note: 'These people have signed in but have no access yet. Give access to those you know.',
    caption: 'People waiting for access',
    has: (role) => role === 'pending',
  },
  {
    title: 'People',
    caption: 'People',
    has: (role) => role !== 'pending' && role !== 'none',
    always: true,
  },
  {
    title: 'Access removed',
    note: 'These people can’t sign in, and their tokens are revoked. Give access to restore it.',
    caption: 'People whose access was removed',
    has: (role) => role === 'none',
  },
]

/** Lists people with their roles and sessions. */
function PeopleTable({ caption, people }: { caption: string; people: readonly Person[] }) {
  return <RecordTable caption={caption} records={people} columns={columns} idOf={({ id }) => id} />
}

const columns: readonly Column<Person>[] = [
  { head: 'Person', cell: (person) => <PersonName person={person} /> },
  {
    head: 'Role',
    width: 152,
    cell: ({ role, roleSource }) =>
      roleSource === 'groups' ? `${roleLabels[role]}, from groups` : roleLabels[role],
  },
  {
    head: 'Databases',
    width: 160,
    cell: ({ role, databases }) => {
      const none = withoutDatabases(role)
      if (none !== undefined) return <span className="dim">{none}</span>
      return databases === null ? 'All' : <ScopeNames names={databases} />
    },
  },
  {
    head: 'Last sign-in',
    width: 120,
    cell: ({ lastSignIn }) =>
      lastSignIn === null ? 'Never' : <RelativeTime time={lastSignIn} tabIndex={0} />,
  },
  {
    head: 'First seen',
    width: 120,
    wideOnly: true,
    cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
  },
  {
    head: 'Sessions',
    width: 88,
    cell: ({ sessions }) =>
      sessions === 0 ? <span className="dim">None</span> : `${sessions} open`,
  },
  {
    head: 'Access',
    width: 208,
    cell: (person) => <AccessButtons person={person} isListed />,
  },
]

/** The name of a person, which leads to their page. */
function PersonName({ person }: { person: Person }) {
  const me = usePresence().person.id
  return (
    <span className={classes.person}>
      <Link to="/access/people/$id" params={{ id: person.id }} className={classes.name}>
        {nameOf(person)}
      </Link>
      {person.name !== null && <span className="mono meta dim">{person.username}</span>}
      {person.id === me && <span className="meta dim">you</span>}
    </span>
  )
}
