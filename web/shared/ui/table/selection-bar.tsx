import { Button, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconDots, IconX } from '../icon/icons.tsx'
import { IconButton } from '../layout/icon-button.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import { usePhoneScreen } from '../layout/use-phone-screen.ts'
import { MenuButton } from '../overlay/menu-button.tsx'
import classes from './selection-bar.module.css'

export interface SelectionAction {
  readonly label: string
  readonly onClick: () => void
  /** Shown on a phone in place of the label. Without one, a menu contains the action there. */
  readonly icon?: ReactNode
  readonly variant?: 'default' | 'subtle'
}

export interface SelectionBarProps {
  readonly label: string
  readonly className?: string | undefined
  /** How many records are selected. */
  readonly status: string
  readonly actions: readonly SelectionAction[]
  readonly onClear: () => void
  /** Called before an action is likely chosen. */
  readonly onIntent?: () => void
}

/** Shows how many records are selected, with the actions for them; on a phone, in one line. */
export function SelectionBar(props: SelectionBarProps) {
  const { label, className = '', status, onIntent } = props
  const phone = usePhoneScreen()
  const count = (
    <span role="status" className={classes.count}>
      {status}
    </span>
  )
  return (
    // Focusable for `keepFocus`.
    <section
      aria-label={label}
      className={`${classes.bar} ${className}`}
      data-selection-bar=""
      tabIndex={-1}
      onPointerEnter={onIntent}
      onFocus={onIntent}
    >
      {phone ? <Icons {...props}>{count}</Icons> : <Labels {...props}>{count}</Labels>}
    </section>
  )
}

type ContentProps = SelectionBarProps & { readonly children: ReactNode }

function Labels({ actions, onClear, children }: ContentProps) {
  return (
    <>
      {children}
      {actions.map(({ label, onClick, variant = 'default' }) => (
        <Button key={label} ref={keepFocus} variant={variant} onClick={onClick}>
          {label}
        </Button>
      ))}
      <Button ref={keepFocus} variant="subtle" onClick={onClear}>
        Clear selection
      </Button>
    </>
  )
}

function Icons({ actions, onClear, children }: ContentProps) {
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
              px={8}
              aria-label={label}
              data-tip={label}
              onClick={onClick}
            >
              {icon}
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
