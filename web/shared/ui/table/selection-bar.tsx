import { Button } from '@mantine/core'
import { lazy } from 'react'
import { LazyBoundary } from '../feedback/lazy-boundary.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import { usePhoneScreen } from '../layout/use-phone-screen.ts'
import type { SelectionBarProps, SelectionContentProps } from './selection-actions.ts'
import classes from './selection-bar.module.css'

// Loaded on demand, because the first view needs no other menu.
const SelectionIcons = lazy(async () => ({
  default: (await import('./selection-icons.tsx')).SelectionIcons,
}))

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
      {phone ? (
        <LazyBoundary fallback={count}>
          <SelectionIcons {...props}>{count}</SelectionIcons>
        </LazyBoundary>
      ) : (
        <Labels {...props}>{count}</Labels>
      )}
    </section>
  )
}

function Labels({ actions, onClear, children }: SelectionContentProps) {
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
