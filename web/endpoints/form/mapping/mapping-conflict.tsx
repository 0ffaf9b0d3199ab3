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
const UNLIMITED = Number.POSITIVE_INFINITY

/** Shows the mapping saved by another user beside the edited one, and asks which to keep. */
export function MappingConflict({ theirs, yours, existing, ...choice }: MappingConflictProps) {
  const chips = (mapping: readonly string[]) => (
    <DatabaseChips mapping={mapping} existing={existing} room={UNLIMITED} />
  )
  return (
    <Conflict
      message="Someone changed this mapping while you were editing it. Your changes were not saved. Compare, choose, then save again."
      theirs={{ label: 'Theirs (saved)', value: chips(theirs) }}
      yours={{
        label: 'Yours (not saved)',
        value: yours === undefined ? 'No databases' : chips(yours),
      }}
      {...choice}
    />
  )
}
