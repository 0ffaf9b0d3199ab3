import { Button, Menu } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { IconDots, IconX } from '../icon/icons.tsx'
import { IconButton } from '../layout/icon-button.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import { usePhoneScreen } from '../layout/use-narrow-screen.ts'
import { MenuButton } from '../overlay/menu-button.tsx'
import { useEscape } from '../overlay/use-escape.ts'
import { activeRow } from './active-row.ts'
import classes from './selection-bar.module.css'

interface SelectionAction {
  readonly label: string
  readonly onClick: () => void
  /** Shown on a phone in place of the label. Without one, a menu contains the action if compact. */
  readonly icon?: ReactNode
  /** Whether it removes or deletes what is selected. */
  readonly danger?: boolean
}

interface SelectionBarProps {
  readonly label: string
  /** How many records are selected. */
  readonly status: string
  readonly actions: readonly SelectionAction[]
  /** Whether a menu contains the actions without an icon, as always on a phone. */
  readonly compact?: boolean
  readonly onClear: () => void
  /** Called before an action is likely chosen. */
  readonly onIntent?: () => void
}

/**
 * Floats over the end of a table while records are selected, with the actions for them. Escape
 * clears the selection.
 */
export function SelectionBar(props: SelectionBarProps) {
  const { label, status, actions, compact = false, onClear, onIntent } = props
  const phone = usePhoneScreen()
  const bar = useRef<HTMLElement>(null)
  const clear = () => {
    const hadFocus = bar.current?.contains(document.activeElement)
    onClear()
    // To the row in the tab order, because the bar disappears.
    if (hadFocus) setTimeout(() => (activeRow() ?? document.querySelector('main'))?.focus())
  }
  useEscape('selection', clear)
  const inMenu = actions.filter(({ icon }) => (phone || compact) && icon === undefined)
  return (
    // Focusable for `keepFocus`.
    <section
      ref={bar}
      aria-label={label}
      className={classes.bar}
      data-selection-bar=""
      tabIndex={-1}
      onPointerEnter={onIntent}
      onFocus={onIntent}
    >
      <span role="status" className={classes.count}>
        {status}
      </span>
      {inMenu.length > 0 && (
        <MenuButton label="More actions" icon={<IconDots />} position="top-end">
          {inMenu.map(({ label, onClick }) => (
            <Menu.Item key={label} ref={keepFocus} onClick={onClick}>
              {label}
            </Menu.Item>
          ))}
        </MenuButton>
      )}
      {actions.map(
        (action) =>
          !inMenu.includes(action) && (
            <Button
              key={action.label}
              ref={keepFocus}
              variant="subtle"
              data-danger={action.danger}
              onClick={action.onClick}
              {...(phone
                ? { px: 8, 'aria-label': action.label, 'data-tip': action.label }
                : { leftSection: action.icon })}
            >
              {phone ? action.icon : action.label}
            </Button>
          ),
      )}
      <IconButton
        aria-label="Clear selection"
        aria-keyshortcuts="Escape"
        data-tip="Clear selection (Esc)"
        onClick={clear}
      >
        <IconX />
      </IconButton>
    </section>
  )
}
