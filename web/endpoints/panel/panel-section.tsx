import { type PropsWithChildren, type ReactNode, useId } from 'react'
import classes from './panel-section.module.css'

export interface PanelSectionProps {
  readonly title: string
  readonly action?: ReactNode
}

/** A section of the panel with a heading. */
export function PanelSection({ title, action, children }: PropsWithChildren<PanelSectionProps>) {
  const id = useId()
  return (
    // Focusable for `keepFocus`.
    <section aria-labelledby={id} className={classes.section} tabIndex={-1}>
      <div className={classes.head}>
        <h3 id={id}>{title}</h3>
        {action}
      </div>
      {children}
    </section>
  )
}
