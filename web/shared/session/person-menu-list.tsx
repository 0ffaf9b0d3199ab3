import { Menu, useMantineColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Ref, useImperativeHandle } from 'react'
import { nameOf, type SignedIn } from '../../api/session/person.ts'
import {
  IconCommand,
  IconDeviceDesktop,
  IconInfo,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '../../ui/icon/icons.tsx'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import { type Layer, useLayer } from '../keys/use-layer.ts'
import classes from './person-menu.module.css'
import { roleLabels } from './role-labels.ts'

const themes = [
  { value: 'auto', label: 'System', Icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
] as const

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
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { open } = useLayer()
  const openLayer = (layer: Layer) => {
    // The dialog returns the focus to the button.
    leave()
    open(layer)
  }
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
        <Menu.Item leftSection={<IconCommand />} onClick={() => openLayer('keys')}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item leftSection={<IconInfo />} onClick={() => openLayer('about')}>
          About Gatehouse
        </Menu.Item>
        <Menu.Divider />
        {/* biome-ignore lint/a11y/useSemanticElements: a menu has no fieldset */}
        <div role="group" aria-label="Theme" className={classes.themes}>
          <span aria-hidden="true">Theme</span>
          {themes.map(({ value, label, Icon }) => (
            <Menu.RadioItem
              key={value}
              value={value}
              checked={colorScheme === value}
              aria-label={label}
              data-tip={label}
              className={classes.theme}
              closeMenuOnClick={false}
              onChange={() => setColorScheme(value)}
            >
              <Icon />
            </Menu.RadioItem>
          ))}
        </div>
        <Menu.Divider />
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
