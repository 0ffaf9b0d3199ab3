import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { OverflowNames } from '../../ui/table/overflow-names.tsx'
import classes from './scope-names.module.css'

/** Characters that fit in the column. */
const COLUMN_CHARACTERS = 17

/**
 * Lists the databases of a token or a role on one line, followed by the count of those that do not fit. Narrow
 * screens show all of them.
 */
export function ScopeNames({ names }: { names: readonly string[] }) {
  const narrow = useNarrowScreen()
  const shown = names.slice(0, narrow ? names.length : countVisibleNames(names, COLUMN_CHARACTERS))
  return (
    <span className={narrow ? undefined : classes.line}>
      {shown.map((name, index) => (
        <span
          key={name}
          className={classes.scope}
          data-tip={name.length > COLUMN_CHARACTERS ? name : undefined}
        >
          <span className="mono">{name}</span>
          {index < names.length - 1 && ', '}
        </span>
      ))}
      <OverflowNames names={names.slice(shown.length)} />
    </span>
  )
}

/**
 * Returns how many names fit on one line. The minimum is one; the caller truncates it if it is too
 * long.
 *
 * @param room characters per line. A comma counts as one. If some names do not fit, space for a
 *   count such as `+12` is reserved.
 */
export function countVisibleNames(names: readonly string[], room: number): number {
  const length = (count: number) =>
    names.slice(0, count).reduce((sum, name) => sum + name.length + 1, -1)
  if (length(names.length) <= room) return names.length
  let count = 1
  while (count + 1 < names.length && length(count + 1) <= room - COUNT) count += 1
  return count
}

/** Characters of a count such as `+12` and the space before it. */
const COUNT = 4
