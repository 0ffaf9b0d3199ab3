import classes from './address-text.module.css'

/** Longer addresses are cut in the middle: their ends tell more than their middles. */
const UNCUT = 30
const TAIL = 14

/** An address, cut in the middle where there is no room; whole when pointed at. */
export function AddressText({ address }: { address: string }) {
  if (address.length <= UNCUT) return <span className={`mono ${classes.whole}`}>{address}</span>
  return (
    <span className={`mono ${classes.cut}`} data-tip={address}>
      <span className={classes.head}>{address.slice(0, -TAIL)}</span>
      <span className={classes.tail}>{address.slice(-TAIL)}</span>
    </span>
  )
}
