import { Button, NativeSelect } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import {
  atLeast,
  OPERATOR,
  type Person,
  type Role,
} from '../../../server/contract/access/principal.ts'
import { nameOf, usePresence } from '../../api/session/person.ts'
import { roleLabels } from '../../shared/session/role-labels.ts'
import { type Column, RecordTable } from '../../ui/table/record-table.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { personRoles } from '../roles.ts'
import { ScopeNames } from '../scope/scope-names.tsx'
import { usePeopleLocation } from '../use-access-location.ts'
import classes from './people-table.module.css'

const idOf = ({ id }: Person) => id

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

/** Lists people who wait for access. */
export function WaitingTable({ people }: { people: readonly Person[] }) {
  const { open, confirmRole } = usePeopleLocation()
  const columns: readonly Column<Person>[] = [
    { head: 'Person', cell: (person) => <PersonName person={person} /> },
    {
      head: 'First seen',
      width: 128,
      cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
    },
    {
      head: 'Last sign-in',
      width: 128,
      cell: ({ lastSignIn }) =>
        lastSignIn === null ? 'Never' : <RelativeTime time={lastSignIn} tabIndex={0} />,
    },
    {
      head: 'Decide',
      width: 216,
      cell: (person) => (
        <span className={classes.actions}>
          <Button
            aria-label={`Give access to ${nameOf(person)}…`}
            onClick={() => open({ give: person.id })}
          >
            Give access…
          </Button>
          <Button
            variant="default"
            aria-label={`Deny access to ${nameOf(person)}`}
            onClick={() => confirmRole(person.id, 'none')}
          >
            Deny
          </Button>
        </span>
      ),
    },
  ]
  return (
    <RecordTable
      caption="People waiting for access"
      records={people}
      columns={columns}
      idOf={idOf}
    />
  )
}

/** Lists people with roles and sessions. Selecting a role opens a confirmation dialog. */
export function PeopleTable(props: { caption: string; people: readonly Person[] }) {
  const { confirmRole } = usePeopleLocation()
  const columns: readonly Column<Person>[] = [
    {
      head: 'Person',
      cell: (person) => <PersonName person={person} />,
    },
    {
      head: 'Role',
      width: 176,
      cell: (person) =>
        person.username === OPERATOR.username ? (
          <span data-tip="The holder of the operator key is always an admin">Admin (fixed)</span>
        ) : (
          <NativeSelect
            aria-label={`Role of ${nameOf(person)}`}
            className={classes.role}
            value={person.role}
            description={person.roleSource === 'groups' && 'From groups until changed'}
            inputWrapperOrder={['input', 'description']}
            data={personRoles.map((role) => ({ value: role, label: labelOf(role, person.role) }))}
            onChange={(event) => confirmRole(person.id, event.currentTarget.value as Role)}
          />
        ),
    },
    {
      head: 'Databases',
      width: 160,
      cell: (person) =>
        !atLeast(person.role, 'viewer') ? (
          <span className="dim">None</span>
        ) : person.username === OPERATOR.username ? (
          'All'
        ) : (
          <Button
            variant="subtle"
            className={classes.databases}
            onClick={() => confirmRole(person.id, person.role)}
          >
            {person.databases === null ? 'All' : <ScopeNames names={person.databases} />}
            <span className="visually-hidden">, databases of {nameOf(person)}</span>
          </Button>
        ),
    },
    {
      head: 'Last sign-in',
      width: 128,
      cell: ({ lastSignIn }) =>
        lastSignIn === null ? 'Never' : <RelativeTime time={lastSignIn} tabIndex={0} />,
    },
    {
      head: 'First seen',
      width: 128,
      wideOnly: true,
      cell: ({ created }) => <RelativeTime time={created} tabIndex={0} />,
    },
    {
      head: 'Sessions',
      width: 104,
      cell: ({ sessions }) =>
        sessions === 0 ? <span className="dim">None</span> : `${sessions} open`,
    },
  ]
  return (
    <RecordTable caption={props.caption} records={props.people} columns={columns} idOf={idOf} />
  )
}

/** "Remove access…" is labelled as an action, unless access was already removed. */
const labelOf = (role: Role, now: Role): string =>
  role === 'none' && now !== 'none' ? 'Remove access…' : roleLabels[role]
