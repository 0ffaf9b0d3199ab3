import { IconMapPin } from '@tabler/icons-react'
import classes from './you-are-here.module.css'

/** Marks the endpoint that serves this page; in a narrow table with only a pin. */
export function YouAreHere() {
  return (
    <span className={classes.here} data-tip="You are connected through this endpoint">
      <IconMapPin size={14} stroke={1.5} aria-hidden="true" />
      <span className={classes.words}>You are here</span>
    </span>
  )
}
