import { Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Ref, useImperativeHandle } from 'react'
import { nameOf, type SignedIn } from '../../api/session/person.ts'
import { IconLogout, IconUser } from '../../ui/icon/icons.tsx'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import classes from './person-menu.module.css'
import { roleLabels } from './role-labels.ts'

export interface PersonMenuListProps {
  /** Prefix of the ids of the menu (`…-dropdown`) and its button (`…-target`). */
  readonly id: string
  /** The button that opened the menu. It anchors the menu and regains the focus on close. */
  readonly button: HTMLElement
  readonly person: SignedIn
  /** Why the sign-out failed. */
  readonly problem: string | undefined
  readonly onSignOut: () => void
  readonly onClose: () => void
}

export function PersonMenuList(props: PersonMenuListProps) {
  const { id, button, person, problem, onSignOut, onClose } = props
  const name = nameOf(person)
  const leave = () => {
    onClose()
    button.focus()
  }
  useEscape('dialog', leave)
  return (
    <Menu
      id={id}
      opened
      onClose={leave}
      closeOnEscape={false}
      position="bottom-end"
      offset={8}
      width={248}
      returnFocus={false}
      // Keep the menu inside the header landmark.
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <Existing element={button} />
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.person}>
          <p className={classes.fullName}>{name}</p>
          {person.name !== null && <p className="mono meta dim">{person.username}</p>}
          <p className="meta dim">{roleLabels[person.role]}</p>
          {problem !== undefined && <p className={classes.problem}>{problem}</p>}
        </div>
        <Menu.Divider />
        <Menu.Item data-autofocus component={Link} to="/me" leftSection={<IconUser />}>
          Sessions, tokens, preferences
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout />} closeMenuOnClick={false} onClick={onSignOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Passes an existing element to the menu as its target. */
function Existing({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => element, [element])
  return null
}
