import type { PropsWithChildren, ReactNode } from 'react'
import { Announcer } from './announce.tsx'
import classes from './front.module.css'
import { Logo } from './logo.tsx'

/** What a {@link Front} says. */
export interface FrontProps {
  readonly title: string
  /** The way on. */
  readonly actions?: ReactNode
}

/** The page of somebody who is not in yet, in place of the frame of all others. */
export function Front({ title, actions, children }: PropsWithChildren<FrontProps>) {
  return (
    <main className={classes.front}>
      <div className={classes.box}>
        <div className={classes.brand}>
          <Logo />
          <h1>{title}</h1>
        </div>
        <div className={classes.text}>{children}</div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      <Announcer />
    </main>
  )
}
