import type { ReactNode } from 'react'
import classes from './notice.module.css'

export interface NoticeProps {
  readonly children: ReactNode
  /** What the user can do next: one button or link. */
  readonly action?: ReactNode
  /** Whether it is a failure, which screen readers announce immediately. */
  readonly failed?: boolean
}

/** A sentence and an optional action in place of a list, such as an empty state. */
export function Notice({ children, action, failed = false }: NoticeProps) {
  return (
    <div className={classes.notice} role={failed ? 'alert' : undefined}>
      <p className={classes.text}>{children}</p>
      {action}
    </div>
  )
}
