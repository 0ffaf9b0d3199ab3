import { useHasRole } from '../../../api/session/person.ts'
import { CreateMissing } from '../../../shared/create-missing.tsx'
import { OverflowNames } from '../../../ui/table/overflow-names.tsx'
import { missingDatabases } from '../../model/mapping.ts'
import classes from './database-chips.module.css'

export interface DatabaseChipsProps {
  /** Empty means all databases; `null` means that the endpoint was removed. */
  readonly mapping: readonly string[] | null
  /** The names of all databases; `undefined` until they are loaded. */
  readonly existing: readonly string[] | undefined
  /** Maximum number of chips; the rest is only counted. */
  readonly room?: number
  /** The tab index of buttons that create missing databases. Without it, there are none. */
  readonly tabIndex?: number
}

/** Longer names are truncated if there is no room. */
const LONG_NAME = 10

/** Average width of a chip, in characters. */
const CHIP_WIDTH = 10
/** Widths of the padding of a chip and of the word "default", in characters. */
const PADDING = 2
const DEFAULT_WIDTH = 7

/** Shows the databases of an endpoint in order, marking the default and missing databases. */
export function DatabaseChips({ mapping, existing, room = 3, tabIndex }: DatabaseChipsProps) {
  const mayCreate = useHasRole('operator')
  if (mapping === null) return <span className="dim">Removed</span>
  if (mapping.length === 0) return <span>All databases</span>
  const missing = missingDatabases(mapping, existing)
  const fitting = mapping.slice(0, countFitting(mapping, room))
  // A missing database is always shown.
  const hidden = missing.find((name) => !fitting.includes(name))
  const shown = hidden === undefined ? fitting : [...fitting.slice(0, -1), hidden]
  return (
    <span className={classes.chips}>
      {shown.map((name, index) => {
        const absent = missing.includes(name)
        const creatable = absent && mayCreate && tabIndex !== undefined
        const long = creatable || name.length > LONG_NAME
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the index reuses the element when a name changes
            key={index}
            className={classes.chip}
            data-long={long || undefined}
            data-missing={absent || undefined}
            data-tip={absent ? `${name} does not exist` : long ? name : undefined}
          >
            {creatable ? (
              <CreateMissing name={name} tabIndex={tabIndex} />
            ) : (
              <span className={`mono ${classes.name}`}>{name}</span>
            )}
            {name === mapping[0] && <span className={classes.default}>default</span>}
            {absent && <span className="visually-hidden">does not exist</span>}
          </span>
        )
      })}
      <OverflowNames names={mapping.filter((name) => !shown.includes(name))} />
    </span>
  )
}

/** Returns how many names fit, at least one and at most `room`. */
export function countFitting(names: readonly string[], room: number): number {
  let left = room * CHIP_WIDTH - DEFAULT_WIDTH
  for (let count = 0; count < Math.min(room, names.length); count++) {
    left -= Math.min(names[count]?.length ?? 0, LONG_NAME) + PADDING
    if (left < 0) return Math.max(1, count)
  }
  return Math.min(room, names.length)
}
