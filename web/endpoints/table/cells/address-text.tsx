import type { Policy } from '../../../../server/contract/endpoints/policy.ts'
import classes from './address-text.module.css'

/** Longer addresses may be truncated in the middle, because the port at the end matters most. */
const MAX_UNTRUNCATED = 14
const TAIL_LENGTH = 12
/** Longer addresses are truncated in some column, so they get a tooltip. */
const TOOLTIP_LENGTH = 24

/** Shows an address, truncated in the middle if there is no room, with a tooltip if it is long. */
export function AddressText({ address }: { address: string }) {
  if (address.length <= MAX_UNTRUNCATED)
    return <span className={`mono ${classes.full}`}>{address}</span>
  return (
    <span
      className={`mono ${classes.truncated}`}
      data-tip={address.length > TOOLTIP_LENGTH ? address : undefined}
    >
      {/* Screen readers and the clipboard would take the two halves as two words. */}
      <span className="visually-hidden">{address}</span>
      <span aria-hidden="true" className={classes.line}>
        <span className={classes.head}>{address.slice(0, -TAIL_LENGTH)}</span>
        <span className={classes.tail}>{address.slice(-TAIL_LENGTH)}</span>
      </span>
    </span>
  )
}

/** Notes up to this length fit everywhere. */
const SHORT_NOTE = 16

/** Shows the note of an endpoint on one line, if it has one. */
export function AddressNote({ policy }: { policy: Policy | null | undefined }) {
  const note = policy?.note
  if (!note) return null
  return (
    <span className={classes.note} data-tip={note.length > SHORT_NOTE ? note : undefined}>
      {note}
    </span>
  )
}
