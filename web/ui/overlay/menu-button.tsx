import { Button, Menu } from '@mantine/core'
import { type PropsWithChildren, type ReactNode, useRef, useState } from 'react'
import { IconChevronDown } from '../icon/icons.tsx'
import { useEscape } from './use-escape.ts'

export interface MenuButtonProps {
  readonly label: string
  /** Shown in place of the label, unless it is false. */
  readonly icon?: ReactNode
  /** Width of the menu in pixels. Default: 208. */
  readonly width?: number
  /** Where the menu opens, unless the space is too small. Default: `bottom-start`. */
  readonly position?: 'bottom-start' | 'bottom-end' | 'top-end'
}

/** Button that opens a menu. Its children are the items. */
export function MenuButton(props: PropsWithChildren<MenuButtonProps>) {
  const { label, icon = false, width = 208, position = 'bottom-start', children } = props
  const [isOpen, setIsOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEscape(
    'dialog',
    isOpen
      ? () => {
          setIsOpen(false)
          button.current?.focus()
        }
      : undefined,
  )
  return (
    <Menu
      opened={isOpen}
      onChange={setIsOpen}
      closeOnEscape={false}
      position={position}
      offset={4}
      width={width}
      // Inside the landmark of the button.
      withinPortal={false}
      floatingStrategy="fixed"
      withInitialFocusPlaceholder={false}
      transitionProps={{ transition: 'fade', duration: 120 }}
    >
      <Menu.Target>
        <Button
          ref={button}
          variant="default"
          {...(icon === false
            ? { rightSection: <IconChevronDown size={14} /> }
            : { 'aria-label': label, 'data-tip': label, px: 8 })}
        >
          {icon === false ? label : icon}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
