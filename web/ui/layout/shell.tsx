import type { PropsWithChildren, ReactNode } from 'react'
import { Announcer } from '../announce.tsx'
import { Tooltips } from '../overlay/tooltip/tooltips.tsx'
import { Logo } from './logo.tsx'
import classes from './shell.module.css'

export interface ShellProps {
  /** Links of the sidebar, each with {@link navItemClass}. */
  readonly nav: ReactNode
  /** The search button at the start of the top bar. */
  readonly search: ReactNode
  /** Shown in the top bar before the person's menu. */
  readonly status: ReactNode
  /** The person's menu at the end of the top bar. */
  readonly person: ReactNode
  /** Shown above every page. */
  readonly banner: ReactNode
  /** Whether the data on the page may be out of date. */
  readonly stale: boolean
}

/** Class of a sidebar link: an icon and a word. `aria-current` marks the current page. */
export const navItemClass = classes.item

/** Frame of every page: sidebar, top bar, banner, and the page. */
export function Shell(props: PropsWithChildren<ShellProps>) {
  const { nav, search, status, person, banner, stale, children } = props
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <div className={classes.brand}>
          <Logo />
          <span className={classes.name}>Gatehouse</span>
        </div>
        <div className={classes.top}>
          <div className={classes.search}>{search}</div>
          {status}
          {person}
        </div>
        {/* Rendered inside a landmark. */}
        <Tooltips />
      </header>
      <nav aria-label="Main" className={classes.nav}>
        {nav}
      </nav>
      <div className={classes.page} data-stale={stale || undefined}>
        {banner}
        <main id="main" tabIndex={-1} className={classes.main}>
          {children}
        </main>
      </div>
      <Announcer />
    </div>
  )
}
