import { Button } from '@mantine/core'
import { lazy } from 'react'
import { LazyBoundary } from '../feedback/lazy-boundary.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import { usePhoneScreen } from '../layout/use-narrow-screen.ts'
import type { SelectionBarProps, SelectionContentProps } from './selection-actions.ts'
import classes from './selection-bar.module.css'

// Loaded on demand, because the first view needs no other menu.
const CompactActions = lazy(async () => ({
  default: (await import('./compact-actions.tsx')).CompactActions,
}))

/** Shows how many records are selected, with the actions for them; on a phone, in one line. */
export function SelectionBar(props: SelectionBarProps) {
  const { label, className = '', status, compact = false, onIntent } = props
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
      {phone || compact ? (
        <LazyBoundary fallback={count}>
          <CompactActions {...props}>{count}</CompactActions>
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
