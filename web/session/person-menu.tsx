import { Menu, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconLogout, IconUser } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { nameOf, usePresence } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import classes from './person-menu.module.css'
import { useSignOut } from './use-sign-out.ts'

/** Who is signed in, and what belongs to the person: sessions, tokens, the way out. */
export function PersonMenu() {
  const { person } = usePresence()
  const signOut = useSignOut(person)
  const name = nameOf(person)
  const problem = signOut.error?.message
  useEffect(() => {
    if (problem !== undefined) announce(`You are not signed out. ${problem}`)
  }, [problem])
  const icon = { size: 16, stroke: 1.5, 'aria-hidden': true } as const
  return (
    <Menu
      position="bottom-end"
      offset={8}
      width={248}
      // Within the header, where a landmark holds it.
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <UnstyledButton className={classes.button}>
          {/* Drawn by the style sheet: a letter is no part of the button's name. */}
          <span className={classes.initial} data-initial={initialOf(name)} aria-hidden="true" />
          <span className={classes.name}>{name}</span>
          <span className="visually-hidden">your menu</span>
          <IconChevronDown size={14} stroke={1.5} aria-hidden="true" className={classes.chevron} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <p className={classes.whole}>{name}</p>
          {person.name !== null && <p className="mono meta dim">{person.username}</p>}
          <p className="meta dim">{roleWords[person.role]}</p>
          {problem !== undefined && <p className={classes.problem}>{problem}</p>}
        </div>
        <Menu.Divider />
        <Menu.Item data-autofocus component={Link} to="/me" leftSection={<IconUser {...icon} />}>
          Sessions, tokens, preferences
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout {...icon} />}
          closeMenuOnClick={false}
          onClick={() => signOut.isPending || signOut.mutate()}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const roleWords = {
  pending: 'No role yet',
  viewer: 'Viewer: reads',
  operator: 'Operator: changes endpoints and databases',
  admin: 'Admin: decides on people too',
} as const

/** The first letter of a name; of a username, what follows the provider. */
const initialOf = (name: string): string =>
  ([...name.replace(/^[a-z0-9]+:(?=.)/, '')][0] ?? '?').toUpperCase()
