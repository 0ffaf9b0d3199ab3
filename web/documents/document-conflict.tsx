import { Conflict } from '../ui/conflict.tsx'
import { JsonBlock } from './json-block.tsx'

/** What {@link DocumentConflict} sets beside each other, as JSON. */
export interface DocumentConflictProps {
  /** What was changed by both: "document". */
  readonly what?: string
  readonly theirs: string
  readonly yours: string
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Somebody else has changed what is being edited: theirs beside yours, and the choice. */
export function DocumentConflict({ theirs, yours, ...choice }: DocumentConflictProps) {
  const block = (label: string, text: string) => ({
    label,
    value: <JsonBlock label={label} text={text} />,
  })
  return (
    <Conflict
      said="Somebody changed this document while you were editing it. It was not saved: compare, choose, then save again."
      theirs={block('Theirs, stored now', theirs)}
      yours={block('Yours, not saved', yours)}
      {...choice}
    />
  )
}
