import { type FocusEvent, type PropsWithChildren, type ReactNode, useEffect, useRef } from 'react'
import { IconX } from '../icon/icons.tsx'
import { IconButton } from '../layout/icon-button.tsx'
import { keepFocus } from '../layout/keep-focus.ts'
import classes from './undo-bar.module.css'

export interface UndoBarProps {
  /** Whether the text reports a failure. */
  readonly isFailed: boolean
  /** The button that undoes the change, if any. */
  readonly action: ReactNode
  /** Called when the bar is hovered or focused, to pause the countdown. */
  readonly onPause: () => void
  /** Called when the bar is neither hovered nor focused any longer. It must be stable. */
  readonly onResume: () => void
  /** Closes the bar; undefined while it cannot be closed. */
  readonly onClose: (() => void) | undefined
}

/** Reports the last change and offers to undo it. */
export function UndoBar({
  isFailed,
  action,
  onPause,
  onResume,
  onClose,
  children,
}: PropsWithChildren<UndoBarProps>) {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    // Not `onPointerLeave`: when React calls it, the bar may still match `:hover`.
    const at = bar.current
    const resume = () => {
      if (at?.matches(':hover, :focus-within') !== true) onResume()
    }
    at?.addEventListener('pointerleave', resume)
    return () => at?.removeEventListener('pointerleave', resume)
  }, [onResume])
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    const within = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
    if (!within && !currentTarget.matches(':hover')) onResume()
  }
  return (
    <section
      ref={bar}
      aria-label="Last change"
      className={classes.bar}
      data-undo=""
      onPointerEnter={onPause}
      onFocus={onPause}
      onBlur={onBlur}
    >
      <div className={classes.text} role={isFailed ? 'alert' : 'status'}>
        {children}
      </div>
      <div className={classes.actions}>
        {action}
        {onClose !== undefined && (
          <IconButton ref={keepFocus} aria-label="Close" onClick={onClose}>
            <IconX />
          </IconButton>
        )}
      </div>
    </section>
  )
}

export interface UndoFailureProps {
  /** The address or id of the failed change. */
  readonly name: string
  readonly reason: string
}

/** One change that failed, with the reason. */
export const UndoFailure = ({ name, reason, children }: PropsWithChildren<UndoFailureProps>) => (
  <p>
    <bdi className="mono">{name}</bdi> {children} <span className={classes.reason}>{reason}</span>
  </p>
)
