import type { ReactNode } from 'react'
import classes from './page-head.module.css'

/** The name of a page, and the one thing to be done there. */
export function PageHead({ title, action }: { title: string; action?: ReactNode }) {
  return (
    <div className={classes.head}>
      <h1>{title}</h1>
      {action}
    </div>
  )
}
