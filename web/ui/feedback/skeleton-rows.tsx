import classes from './skeleton-rows.module.css'

const rows = ['a', 'b', 'c', 'd', 'e']

/** Placeholder bars for rows that are loading. They appear after 200 ms. */
export function SkeletonRows({ what }: { what: string }) {
  return (
    <div className={classes.rows} role="status">
      <span className="visually-hidden">Loading {what}…</span>
      {rows.map((row) => (
        <div key={row} className={classes.row}>
          <span className={classes.bar} />
        </div>
      ))}
    </div>
  )
}
