import type { ReactNode } from 'react'
import classes from './page-head.module.css'

/** The title of a page and its primary action. */
export function PageHead({ title, action }: { title: string; action?: ReactNode }) {
  return (
    <div className={classes.head}>
      <h1>{title}</h1>
      {action}
    </div>
  )
}
