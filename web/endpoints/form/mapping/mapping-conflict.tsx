import { Conflict } from '../../../shared/ui/overlay/conflict.tsx'
import { DatabaseChips } from '../../table/cells/database-chips.tsx'

export interface MappingConflictProps {
  readonly theirs: readonly string[]
  /** `undefined` if no database is chosen. */
  readonly yours: readonly string[] | undefined
  readonly existing: readonly string[] | undefined
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Show all names, so that the mappings can be compared. */
const ROOM = Number.POSITIVE_INFINITY

/** Shows the mapping saved by another user beside the edited one, and asks which to keep. */
export function MappingConflict({ theirs, yours, existing, ...choice }: MappingConflictProps) {
  const chips = (mapping: readonly string[]) => (
    <DatabaseChips mapping={mapping} existing={existing} room={ROOM} />
  )
  return (
    <Conflict
      message="Somebody changed this mapping while you were editing it. Compare, choose, then save."
      theirs={{ label: 'Theirs, in force now', value: chips(theirs) }}
      yours={{
        label: 'Yours, not saved',
        value: yours === undefined ? 'None chosen' : chips(yours),
      }}
      {...choice}
    />
  )
}
