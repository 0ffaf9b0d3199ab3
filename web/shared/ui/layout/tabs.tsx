import type { PropsWithChildren } from 'react'
import classes from './tabs.module.css'

/** The class of a link among {@link Tabs}; `aria-current` marks where one is. */
export const tabClass = classes.tab

/** The parts of a page that are pages of their own: links, each a {@link tabClass}. */
export function Tabs({ label, children }: PropsWithChildren<{ label: string }>) {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {children}
    </nav>
  )
}
