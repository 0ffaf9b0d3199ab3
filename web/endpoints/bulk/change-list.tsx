import { formatCount } from '../../ui/text/format-number.ts'
import classes from './change-list.module.css'
import type { BulkTask } from './plan-bulk.ts'

/** Maximum number of changes listed; the rest is counted below the list. */
const MAX_CHANGES = 100

/** Lists the changes of a bulk change. The endpoint that serves this page comes first. */
export function ChangeList(props: {
  tasks: readonly BulkTask[]
  /** Address of the endpoint that serves this page. */
  here: string
}) {
  const { tasks, here } = props
  const isOwn = ({ row }: BulkTask) => row.address === here
  const listed = [...tasks.filter(isOwn), ...tasks.filter((task) => !isOwn(task))]
  const more = listed.length - MAX_CHANGES
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <ul className={classes.list} aria-label="What will change" tabIndex={0}>
        {listed.slice(0, MAX_CHANGES).map((task) => (
          <li key={task.row.id} className={isOwn(task) ? classes.own : undefined}>
            <span className="mono">{task.row.address}</span>
            {isOwn(task) && ' (you are connected through it)'}{' '}
            <span className="dim">{formatTask(task)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p>And {formatCount(more)} more, which are not listed.</p>}
    </>
  )
}

/** Formats a change as "blog, shop → shop", or a removal as its current mapping. */
function formatTask({ row, after, policy }: BulkTask): string {
  if (policy !== undefined) return policy.after?.enabled === false ? 'on → off' : 'off → on'
  const before = formatMapping(row.databases ?? [])
  return after === null ? before : `${before} → ${formatMapping(after)}`
}

/** Maximum number of database names shown of a mapping. */
const MAX_NAMES = 4

function formatMapping(names: readonly string[]): string {
  if (names.length === 0) return 'all databases'
  const more = names.length - MAX_NAMES
  return more > 1 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ')
}
