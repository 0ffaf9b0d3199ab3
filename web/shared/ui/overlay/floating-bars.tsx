import { type PropsWithChildren, useState } from 'react'
import { createPortal } from 'react-dom'
import classes from './undo-bar.module.css'

const ID = 'floating-bars'

/** Holds the bars that float over every page, one above the other. */
export const FloatingBars = ({ children }: PropsWithChildren) => (
  <div id={ID} className={classes.bars}>
    {children}
  </div>
)

/** Renders a bar of a page among the {@link FloatingBars}. */
export function FloatingBar({ children }: PropsWithChildren) {
  const [bars] = useState(() => document.getElementById(ID))
  return bars === null ? null : createPortal(children, bars)
}
