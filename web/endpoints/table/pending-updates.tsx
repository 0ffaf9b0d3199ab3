import classes from './table-foot.module.css'

/** Shows "3 new · Show" or "Order changed · Sort again", because rows never move on their own. */
export function PendingUpdates(props: {
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
          <button type="button" className={`link-button ${classes.link}`} onClick={onShow}>
            Show
          </button>
        </>
      )}
      {fresh === 0 && moved && (
        <>
          Order changed ·{' '}
          <button type="button" className={`link-button ${classes.link}`} onClick={onSort}>
            Sort again
          </button>
        </>
      )}
    </div>
  )
}
