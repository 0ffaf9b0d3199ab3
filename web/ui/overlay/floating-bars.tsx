import { type PropsWithChildren, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import classes from './floating-bars.module.css'

const ID = 'floating-bars'

/**
 * Holds the bars that float over every page, one above the other. The CSS variable
 * `--floating-bars` is the height of what they cover at the bottom of the window.
 */
export function FloatingBars({ children }: PropsWithChildren) {
  const bars = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const at = bars.current
    if (at === null) return
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => {
      const height = at.offsetHeight
      style.setProperty(
        '--floating-bars',
        height === 0 ? '0px' : `calc(${height}px + var(--bars-below))`,
      )
    })
    observer.observe(at)
    return () => {
      observer.disconnect()
      style.removeProperty('--floating-bars')
    }
  }, [])
  return (
    <div ref={bars} id={ID} className={classes.bars}>
      {children}
    </div>
  )
}

/** Renders a bar of a page among the {@link FloatingBars}. */
export function FloatingBar({ children }: PropsWithChildren) {
  const [bars] = useState(() => document.getElementById(ID))
  return bars === null ? null : createPortal(children, bars)
}
