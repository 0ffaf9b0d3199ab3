import classes from './more-names.module.css'

/** "+3" for names that find no room: a tip, and whoever hears the page, has them all. None: nothing. */
export function MoreNames({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  const all = names.join(', ')
  return (
    <span className={classes.more} data-tip={all}>
      +{names.length}
      <span className="visually-hidden"> more: {all}</span>
    </span>
  )
}
