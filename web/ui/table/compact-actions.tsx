import { Button, Menu } from '@mantine/core'
import { IconDots, IconX } from '../icon/icons.tsx'
import { IconButton } from '../layout/icon-button.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import { usePhoneScreen } from '../layout/use-narrow-screen.ts'
import { MenuButton } from '../overlay/menu-button.tsx'
import type { SelectionContentProps } from './selection-actions.ts'

/** The actions of a selection bar in one line: on a phone as icons, with a menu of those without one. */
export function CompactActions({ actions, onClear, children }: SelectionContentProps) {
  const phone = usePhoneScreen()
  const others = actions.filter(({ icon }) => icon === undefined)
  return (
    <>
      <IconButton
        ref={keepFocus}
        aria-label="Clear selection"
        data-tip="Clear selection"
        onClick={onClear}
      >
        <IconX />
      </IconButton>
      {children}
      {actions.map(
        ({ label, onClick, icon }) =>
          icon !== undefined && (
            <Button
              key={label}
              ref={keepFocus}
              variant="default"
              onClick={onClick}
              {...(phone && { px: 8, 'aria-label': label, 'data-tip': label })}
            >
              {phone ? icon : label}
            </Button>
          ),
      )}
      {others.length > 0 && (
        <MenuButton label="More actions" icon={<IconDots />} position="top-end">
          {others.map(({ label, onClick }) => (
            <Menu.Item key={label} ref={keepFocus} onClick={onClick}>
              {label}
            </Menu.Item>
          ))}
        </MenuButton>
      )}
    </>
  )
}
