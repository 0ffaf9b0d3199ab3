import { MoreNames } from '../ui/more-names.tsx'
import classes from './database-chips.module.css'
import { missingFrom } from './mapping.ts'

/** What {@link DatabaseChips} shows. */
export interface DatabaseChipsProps {
  /** Empty: every database. `null`: the endpoint has been removed. */
  readonly mapping: readonly string[] | null
  /** The names there are; `undefined` while they are not known. */
  readonly existing: readonly string[] | undefined
  /** How many chips there is room for; the rest is counted. */
  readonly room?: number
}

/** Names beyond this length give way when there is no room; shorter ones stay readable. */
const LONG = 10

/** The databases of an endpoint in their order; the first is the default. */
export function DatabaseChips({ mapping, existing, room = 3 }: DatabaseChipsProps) {
  if (mapping === null) return <span className="dim">Removed</span>
  if (mapping.length === 0) return <span>All databases</span>
  const missing = missingFrom(mapping, existing)
  const shown = mapping.slice(0, room)
  return (
    <span className={classes.chips}>
      {shown.map((name, index) => {
        const absent = missing.includes(name)
        const long = name.length > LONG
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: another name is put in, nothing is drawn anew
            key={index}
            className={classes.chip}
            data-long={long || undefined}
            data-missing={absent || undefined}
            data-tip={absent ? `${name} does not exist yet` : long ? name : undefined}
          >
            <span className={`mono ${classes.name}`}>{name}</span>
            {index === 0 && <span className={classes.default}>default</span>}
            {absent && <span className="visually-hidden">does not exist yet</span>}
          </span>
        )
      })}
      <MoreNames names={mapping.slice(room)} />
    </span>
  )
}
