import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type FocusEvent, lazy, useEffect, useRef, useState } from 'react'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { IconX } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import classes from '../../ui/overlay/floating-bars.module.css'
import { formatCount } from '../../ui/text/format-number.ts'
import { WithName } from '../../ui/text/with-name.tsx'
import { useKeys } from '../keys/use-keys.ts'
import { useDialogNavigation } from '../use-dialog-navigation.ts'
import {
  closeToast,
  pauseToast,
  resumeToast,
  type Toast,
  type ToastAction,
  undoToast,
  useToast,
} from './toast.ts'

const FailureDialog = lazy(async () => ({
  default: (await import('./failure-dialog.tsx')).FailureDialog,
}))

/** Maximum number of failures in the toast; a dialog shows the others. */
const MAX_FAILURES = 3

/** Text fields, in which the shortcut undoes typing. */
const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]'

/** Shows the last change on every page, with Undo where that is possible. */
export function ToastOutlet() {
  const toast = useToast()
  useKeys('anywhere', {
    undo: ({ target }) => {
      if (toast?.undo === undefined || (target instanceof HTMLElement && target.matches(FIELD)))
        return false
      void undoToast()
      return true
    },
  })
  return toast && <ToastBar key={toast.id} toast={toast} />
}

function ToastBar({ toast }: { toast: Toast }) {
  const { text, name, actions = [], undo, undoLabel = 'Undo', failures = [], isUndoing } = toast
  const bar = useRef<HTMLElement>(null)
  const [all, setAll] = useState(false)
  useEffect(() => {
    const at = bar.current
    // The pointer may be where the toast appears.
    if (at?.matches(':hover') === true) pauseToast()
    // Not `onPointerLeave`: when React calls it, the bar may still match `:hover`.
    const resume = () => {
      if (at?.matches(':hover, :focus-within') !== true) resumeToast()
    }
    at?.addEventListener('pointerleave', resume)
    return () => at?.removeEventListener('pointerleave', resume)
  }, [])
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    const within = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
    if (!within && !currentTarget.matches(':hover')) resumeToast()
  }
  return (
    <section
      ref={bar}
      aria-label="Last change"
      className={classes.bar}
      data-undo=""
      onPointerEnter={pauseToast}
      onFocus={pauseToast}
      onBlur={onBlur}
    >
      <div className={classes.text} role={failures.length > 0 ? 'alert' : 'status'}>
        <p>
          <WithName text={text} name={name} />
        </p>
        {failures.slice(0, MAX_FAILURES).map((failure) => (
          <p key={failure.name}>
            {failure.name !== undefined && <bdi className="mono">{failure.name}</bdi>}{' '}
            <span className={classes.reason}>{failure.reason}</span>
          </p>
        ))}
      </div>
      <div className={classes.actions}>
        {failures.length > MAX_FAILURES && (
          <Button variant="subtle" onClick={() => setAll(true)}>
            Show all {formatCount(failures.length)}
          </Button>
        )}
        {actions.map((action) => (
          <Action key={action.label} action={action} />
        ))}
        {undo !== undefined && (
          <Button
            ref={keepFocus}
            variant="subtle"
            aria-disabled={isUndoing || undefined}
            data-tip="Ctrl Z or ⌘ Z"
            onClick={() => void undoToast()}
          >
            {isUndoing ? 'Undoing…' : undoLabel}
          </Button>
        )}
        <IconButton ref={keepFocus} aria-label="Close" onClick={closeToast}>
          <IconX />
        </IconButton>
      </div>
      {all && (
        <LazyBoundary>
          <FailureDialog failures={failures} onClose={() => setAll(false)} />
        </LazyBoundary>
      )}
    </section>
  )
}

function Action({ action }: { action: ToastAction }) {
  const { link } = useDialogNavigation()
  if ('href' in action) {
    return (
      <Button component="a" variant="subtle" href={action.href}>
        {action.label}
      </Button>
    )
  }
  return (
    <Button variant="subtle" renderRoot={(props) => <Link {...action.to} {...props} {...link} />}>
      {action.label}
    </Button>
  )
}
