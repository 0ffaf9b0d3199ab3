import { MoreNames } from '../ui/more-names.tsx'
import { useLittleRoom } from '../ui/use-little-room.ts'
import { fitNames } from './fit-names.ts'
import classes from './scope-names.module.css'

/** How many characters the column takes. */
const ROOM = 17

/** The databases of a token in one line: those that fit, the others counted. On a phone all of them. */
export function ScopeNames({ names }: { names: readonly string[] }) {
  const narrow = useLittleRoom()
  const shown = names.slice(0, narrow ? names.length : fitNames(names, ROOM))
  return (
    <span className={narrow ? undefined : classes.line}>
      {shown.map((name, index) => (
        <span key={name} className={classes.name} data-tip={name.length > ROOM ? name : undefined}>
          <span className="mono">{name}</span>
          {index < names.length - 1 && ', '}
        </span>
      ))}
      <MoreNames names={names.slice(shown.length)} />
    </span>
  )
}
