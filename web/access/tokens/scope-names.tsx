import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { OverflowNames } from '../../ui/table/overflow-names.tsx'
import { countVisibleNames } from './count-visible-names.ts'
import classes from './scope-names.module.css'

/** Characters that fit in the column. */
const COLUMN_CHARACTERS = 17

/**
 * Lists a token's databases on one line, followed by the count of those that do not fit. Narrow
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
          className={classes.name}
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
