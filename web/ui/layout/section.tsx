import { type PropsWithChildren, type ReactNode, useId } from 'react'
import classes from './section.module.css'

export interface SectionProps {
  readonly title: string
  /** Number of listed items, shown beside the title. */
  readonly count?: number | undefined
  readonly note?: ReactNode
  readonly action?: ReactNode
}

export function Section(props: PropsWithChildren<SectionProps>) {
  const { title, count, note, action, children } = props
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div className={classes.head}>
        <h2 id={id}>
          {title} {count !== undefined && <span className={classes.count}>{count}</span>}
        </h2>
        {action}
      </div>
      {note !== undefined && <p className={classes.note}>{note}</p>}
      {children}
    </section>
  )
}
