import type { ReactNode } from 'react'
import classes from './notice.module.css'

/** What stands where a list would: nothing there, nothing found, or not to be had. */
export interface NoticeProps {
  readonly children: ReactNode
  /** The way on: one button or link. */
  readonly action?: ReactNode
  /** A failure is told at once to screen readers. */
  readonly failed?: boolean
}

/** A sentence and the way on, in place of a list. */
export function Notice({ children, action, failed = false }: NoticeProps) {
  return (
    <div className={classes.notice} role={failed ? 'alert' : undefined}>
      <p className={classes.text}>{children}</p>
      {action}
    </div>
  )
}
