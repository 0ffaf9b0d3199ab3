import { IconMapPin } from '../../../ui/icon/icons.tsx'
import classes from './you-are-here.module.css'

/** Marks the endpoint that serves this page; in a narrow table with only a pin. */
export function YouAreHere() {
  return (
    <span className={classes.here} data-tip="You are connected through this endpoint">
      <IconMapPin size={14} />
      <span className={classes.words}>You are here</span>
    </span>
  )
}
