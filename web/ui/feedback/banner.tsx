import type { ReactNode } from 'react'
import classes from './banner.module.css'

export interface BannerProps {
  readonly role: 'alert' | 'status'
  /** The message and its action. Nothing is shown without them. */
  readonly children: ReactNode
}

/**
 * A warning across the page, below the top bar, or in a dialog. Keep it mounted: screen readers
 * announce only changes of a live region that exists.
 */
export function Banner({ role, children }: BannerProps) {
  return (
    <div role={role} className={classes.region}>
      {children && <div className={classes.banner}>{children}</div>}
    </div>
  )
}
