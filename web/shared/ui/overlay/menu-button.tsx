import { Button, Menu } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { type PropsWithChildren, useRef, useState } from 'react'
import { useEscape } from './use-escape.ts'

export interface MenuButtonProps {
  readonly label: string
  /** Width of the menu in pixels. Default: 208. */
  readonly width?: number
}

/** Button that opens a menu. Its children are the items. */
export function MenuButton({ label, width = 208, children }: PropsWithChildren<MenuButtonProps>) {
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
      position="bottom-start"
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
          rightSection={<IconChevronDown size={14} stroke={1.5} aria-hidden="true" />}
        >
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
