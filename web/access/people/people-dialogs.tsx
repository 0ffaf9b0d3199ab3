import { lazy } from 'react'
import type { Person } from '../../../server/contract/access/principal.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { usePeopleLocation } from '../use-access-location.ts'
import { RoleDialog } from './role-dialog.tsx'

const InviteDialog = lazy(async () => ({
  default: (await import('./invite-dialog.tsx')).InviteDialog,
}))

/** The dialog of the People page, or of the page of a person, that the URL names. */
export function PeopleDialogs({ people }: { people: readonly Person[] }) {
  const { search } = usePeopleLocation()
  const find = (id: string | undefined) => people.find((each) => each.id === id)
  const [given, changed] = [find(search.give), find(search.change)]
  if (search.invite !== undefined) {
    return (
      <LazyBoundary>
        <InviteDialog />
      </LazyBoundary>
    )
  }
  if (given !== undefined) return <RoleDialog key={given.id} person={given} />
  if (changed === undefined || search.role === undefined) return null
  return <RoleDialog key={changed.id} person={changed} role={search.role} />
}
