import { useQuery } from '@tanstack/react-query'
import type { Person } from '../../server/contract/person.ts'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Section } from '../ui/section.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { PeopleTable } from './people-table.tsx'
import { peopleQuery } from './queries.ts'
import { RoleDialog } from './role-dialog.tsx'
import { SessionsDialog } from './sessions-dialog.tsx'
import { usePeopleLocation } from './use-access-location.ts'

/** The people of this server: those who wait for a role, then all others. */
export function PeoplePage() {
  const { data: people, error, refetch } = useQuery(peopleQuery)
  const waiting = people?.filter(({ role }) => role === 'pending') ?? []
  usePageTitle(waiting.length > 0 && `${waiting.length} waiting`, 'People', 'Access')
  if (people === undefined) {
    return error === null ? (
      <SkeletonRows what="the people" />
    ) : (
      <LoadFailure what="The people" error={error} onRetry={refetch} />
    )
  }
  return (
    <>
      {waiting.length > 0 && (
        <Section
          title="Waiting for a role"
          count={waiting.length}
          note="They have signed in, and see only that they wait. Give a role to those you know."
        >
          <PeopleTable caption="People who wait for a role" people={waiting} />
        </Section>
      )}
      <Section title="People" count={people.length - waiting.length}>
        <PeopleTable caption="People" people={people.filter(({ role }) => role !== 'pending')} />
      </Section>
      <PeopleDialogs people={people} />
    </>
  )
}

function PeopleDialogs({ people }: { people: readonly Person[] }) {
  const { search } = usePeopleLocation()
  const find = (id: string | undefined) => people.find((each) => each.id === id)
  const shown = find(search.sessions)
  const changed = find(search.change)
  if (shown !== undefined) return <SessionsDialog key={shown.id} person={shown} />
  if (changed === undefined || search.role === undefined) return null
  return <RoleDialog key={changed.id} person={changed} role={search.role} />
}
