import { Menu } from '@mantine/core'
import { IconLogout, IconUser } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Ref, useImperativeHandle } from 'react'
import { nameOf, type SignedIn } from '../person.ts'
import classes from './person-menu.module.css'

/** What {@link PersonMenuList} shows and does. */
export interface PersonMenuListProps {
  /** What the ids of the menu, `…-dropdown`, and of its button, `…-target`, begin with. */
  readonly id: string
  /** The button it was opened by: it stands there, and gives the focus back to it. */
  readonly button: HTMLElement
  readonly person: SignedIn
  /** Why the person could not be signed out. */
  readonly problem: string | undefined
  readonly onSignOut: () => void
  readonly onClose: () => void
}

/** The open menu of the person. */
export function PersonMenuList(props: PersonMenuListProps) {
  const { id, button, person, problem, onSignOut, onClose } = props
  const name = nameOf(person)
  const icon = { size: 16, stroke: 1.5, 'aria-hidden': true } as const
  return (
    <Menu
      id={id}
      opened
      onClose={() => {
        onClose()
        button.focus()
      }}
      position="bottom-end"
      offset={8}
      width={248}
      returnFocus={false}
      // Within the header, where a landmark holds it.
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <Existing element={button} />
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
          onClick={onSignOut}
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

/** Hands the menu a button that is in the page already. */
function Existing({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element])
  return null
}
