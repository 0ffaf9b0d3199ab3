import type { PropsWithChildren, ReactNode } from 'react'
import { Announcer } from './announce.tsx'
import { Logo } from './logo.tsx'
import classes from './shell.module.css'
import { ThemeSwitch } from './theme-switch.tsx'
import { Tip } from './tip.tsx'

/** What the frame of every page holds. */
export interface ShellProps {
  /** The links of the sidebar, each an {@link navItemClass}. */
  readonly nav: ReactNode
  /** The search, at the beginning of the top bar. */
  readonly search: ReactNode
  /** What stands in the top bar, before the theme. */
  readonly status: ReactNode
  /** Who is signed in, at the end of the top bar. */
  readonly person: ReactNode
  /** What is said above the page, whatever the page is. */
  readonly banner: ReactNode
  /** Whether what the page shows may be out of date. */
  readonly stale: boolean
}

/** The class of a link in the sidebar: an icon and a word; `aria-current` marks where one is. */
export const navItemClass = classes.item

/** The frame of every page: sidebar, top bar, banner and the page itself. */
export function Shell(props: PropsWithChildren<ShellProps>) {
  const { nav, search, status, person, banner, stale, children } = props
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.header}>
        <div className={classes.brand}>
          <Logo />
          <span className={classes.name}>Gatehouse</span>
        </div>
        <div className={classes.top}>
          <div className={classes.search}>{search}</div>
          {status}
          <ThemeSwitch />
          {person}
        </div>
        {/* Where a landmark holds it. */}
        <Tip />
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
