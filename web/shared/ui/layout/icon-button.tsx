import type { ComponentProps } from 'react'
import classes from './icon-button.module.css'

/** A button that shows an icon alone: `aria-label` says what it does. A plain one: they are many. */
export function IconButton({ className, ...props }: ComponentProps<'button'>) {
  const both = className === undefined ? classes.button : `${classes.button} ${className}`
  return <button type="button" {...props} className={both} />
}
