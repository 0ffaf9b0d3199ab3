import { Conflict } from '../../ui/overlay/conflict.tsx'
import { JsonBlock } from '../editor/json-block.tsx'

/** Props of {@link DocumentConflict}. The texts are JSON. */
export interface DocumentConflictProps {
  /** Noun for what was edited, such as "schema". Default: `document`. */
  readonly what?: string
  readonly theirs: string
  readonly yours: string
  readonly onTakeTheirs: () => void
  readonly onKeepYours: () => void
}

/** Shows another person's version beside the user's, and lets the user choose. */
export function DocumentConflict({
  what = 'document',
  theirs,
  yours,
  ...choice
}: DocumentConflictProps) {
  const block = (label: string, text: string) => ({
    label,
    value: <JsonBlock label={label} text={text} />,
  })
  return (
    <Conflict
      message={`Someone changed this ${what} while you were editing it. Your changes were not saved. Compare, choose, then save again.`}
      theirs={block('Theirs (saved)', theirs)}
      yours={block('Yours (not saved)', yours)}
      {...choice}
    />
  )
}
