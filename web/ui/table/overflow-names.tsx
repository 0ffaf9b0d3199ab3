import classes from './overflow-names.module.css'

/** Renders "+3" for names that do not fit, with all of them in a tooltip and for screen readers. */
export function OverflowNames({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  const all = names.join(', ')
  return (
    <span className={classes.more} data-tip={all}>
      +{names.length}
      <span className="visually-hidden"> more: {all}</span>
    </span>
  )
}
