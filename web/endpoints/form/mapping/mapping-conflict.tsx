import { Conflict } from '../ui/conflict.tsx'
import { DatabaseChips } from './database-chips.tsx'

/** What {@link MappingConflict} sets beside each other. */
export interface MappingConflictProps {
  readonly theirs: readonly string[]
  /** `undefined` where none is chosen. */
  readonly yours: readonly string[] | undefined
  readonly existing: readonly string[] | undefined
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** All of them are shown: they are to be compared. */
const ROOM = Number.POSITIVE_INFINITY

/** Somebody else has changed what is being edited: theirs beside yours, and the choice. */
export function MappingConflict({ theirs, yours, existing, ...choice }: MappingConflictProps) {
  const chips = (mapping: readonly string[]) => (
    <DatabaseChips mapping={mapping} existing={existing} room={ROOM} />
  )
  return (
    <Conflict
      said="Somebody changed this mapping while you were editing it. Compare, choose, then save."
      theirs={{ label: 'Theirs, in force now', value: chips(theirs) }}
      yours={{
        label: 'Yours, not saved',
        value: yours === undefined ? 'None chosen' : chips(yours),
      }}
      {...choice}
    />
  )
}
