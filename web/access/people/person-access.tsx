import { Button } from '@mantine/core'
import { lazy } from 'react'
import { OPERATOR, type Person } from '../../../server/contract/access/principal.ts'
import { nameOf } from '../../api/session/person.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { useAccessLocation } from '../use-access-location.ts'
import classes from './people.module.css'
import { RoleDialog } from './role-dialog.tsx'

const InviteDialog = lazy(async () => ({
  default: (await import('./invite-dialog.tsx')).InviteDialog,
}))

/** The dialog of the People page, or of the page of a person, that the URL names. */
export function PeopleDialogs({ people }: { people: readonly Person[] }) {
  const { search } = useAccessLocation()
  const person = people.find(({ id }) => id === (search.give ?? search.deny))
  if (search.invite !== undefined) {
    return (
      <LazyBoundary>
        <InviteDialog />
      </LazyBoundary>
    )
  }
  if (person === undefined) return null
  return <RoleDialog key={person.id} person={person} isRemoval={search.deny !== undefined} />
}

/**
 * The buttons that give, change and remove the access of a person. In a list, members lose access on
 * their pages.
 */
export function AccessButtons({ person, isListed }: { person: Person; isListed?: boolean }) {
  const { open } = useAccessLocation()
  const { id, role, username } = person
  if (username === OPERATOR.username) return null
  const isMember = role !== 'pending' && role !== 'none'
  const give = isMember ? 'Change access' : 'Give access'
  return (
    <div className={classes.actions}>
      <Button
        variant={isListed && role !== 'pending' ? 'default' : 'filled'}
        aria-label={`${give} ${isMember ? 'of' : 'to'} ${nameOf(person)}…`}
        onClick={() => open({ give: id })}
      >
        {give}…
      </Button>
      {role === 'pending' && (
        <Button
          variant="default"
          aria-label={`Deny access to ${nameOf(person)}`}
          onClick={() => open({ deny: id })}
        >
          Deny
        </Button>
      )}
      {isMember && !isListed && (
        <Button variant="default" onClick={() => open({ deny: id })}>
          Remove access…
        </Button>
      )}
    </div>
  )
}
