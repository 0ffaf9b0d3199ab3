import type { PropsWithChildren, ReactNode } from 'react'
import { Announcer } from '../announce.tsx'
import classes from './centered-page.module.css'
import { Logo } from './logo.tsx'

export interface CenteredPageProps {
  readonly title: string
  readonly actions?: ReactNode
}

/** Page without the shell, for a person who is not signed in or cannot use the console yet. */
export function CenteredPage({ title, actions, children }: PropsWithChildren<CenteredPageProps>) {
  return (
    <main className={classes.page}>
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
