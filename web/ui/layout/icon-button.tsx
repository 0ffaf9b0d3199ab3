import type { ComponentProps } from 'react'
import classes from './icon-button.module.css'

/** Button with only an icon; set `aria-label`. A native button, because pages render many. */
export function IconButton({ className, ...props }: ComponentProps<'button'>) {
  const both = className === undefined ? classes.button : `${classes.button} ${className}`
  return <button type="button" {...props} className={both} />
}
