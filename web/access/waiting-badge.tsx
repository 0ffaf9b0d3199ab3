import { useQuery } from '@tanstack/react-query'
import { peopleQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import classes from './waiting-badge.module.css'

/** The number of people who wait for a role, beside the link to the Access page. */
export function WaitingBadge() {
  const { data = [] } = useQuery({ ...peopleQuery, enabled: useHasRole('admin') })
  const count = data.filter(({ role }) => role === 'pending').length
  if (count === 0) return null
  return (
    <span className={classes.badge}>
      {count}
      <span className="visually-hidden"> waiting</span>
    </span>
  )
}
