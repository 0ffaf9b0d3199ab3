import classes from './address-text.module.css'

/** Longer addresses may be cut, in the middle: their ends, the ports, tell more. */
const UNCUT = 14
const TAIL = 12
/** Longer ones have to be cut in some column of the console: the whole is shown when pointed at. */
const TOLD = 24

/** An address, cut in the middle where there is no room; a long one whole when pointed at. */
export function AddressText({ address }: { address: string }) {
  if (address.length <= UNCUT) return <span className={`mono ${classes.whole}`}>{address}</span>
  return (
    <span className={`mono ${classes.cut}`} data-tip={address.length > TOLD ? address : undefined}>
      {/* The halves would be read, and copied, as two words. */}
      <span className="visually-hidden">{address}</span>
      <span aria-hidden="true" className={classes.head}>
        {address.slice(0, -TAIL)}
      </span>
      <span aria-hidden="true" className={classes.tail}>
        {address.slice(-TAIL)}
      </span>
    </span>
  )
}
