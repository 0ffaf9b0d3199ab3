import type { PropsWithChildren } from 'react'
import classes from './tabs.module.css'

/** Class of a link in {@link Tabs}. `aria-current` marks the current page. */
export const tabClass = classes.tab

/** Links between the sub-pages of a page, each with {@link tabClass}. */
export function Tabs({ label, children }: PropsWithChildren<{ label: string }>) {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {children}
    </nav>
  )
}
