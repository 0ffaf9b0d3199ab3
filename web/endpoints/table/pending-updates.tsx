import classes from './table-foot.module.css'

/** "3 new · Show", "Order changed · Sort again": rows never reorder by themselves. */
export function OrderNotice(props: {
  fresh: number
  moved: boolean
  onShow: () => void
  onSort: () => void
}) {
  const { fresh, moved, onShow, onSort } = props
  return (
    <div role="status" className={classes.notice}>
      {fresh > 0 && (
        <>
          {fresh} new ·{' '}
          <button type="button" className={classes.link} onClick={onShow}>
            Show
          </button>
        </>
      )}
      {fresh === 0 && moved && (
        <>
          Order changed ·{' '}
          <button type="button" className={classes.link} onClick={onSort}>
            Sort again
          </button>
        </>
      )}
    </div>
  )
}
