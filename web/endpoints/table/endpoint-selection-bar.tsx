import { IconTrash } from '../../ui/icon/icons.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { SelectionBar } from '../../ui/table/selection-bar.tsx'
import { type BulkAction, formatSelected } from '../model/selection.ts'

/** Shows the number of selected rows and the bulk actions. */
export function EndpointSelectionBar(props: {
  count: number
  /** Whether the panel leaves no room for every action. */
  compact: boolean
  /** How many of them are off. */
  off: number
  hidden: number
  onBulk: (action: BulkAction) => void
  onIntent: () => void
  onExport: () => void
  onClear: () => void
}) {
  const { count, compact, off, hidden, onBulk, onIntent, onExport, onClear } = props
  return (
    <SelectionBar
      label="Selected endpoints"
      status={formatSelected(count, hidden)}
      compact={useNarrowScreen() || compact}
      actions={[
        { label: 'Add a database', onClick: () => onBulk('add') },
        { label: 'Remove a database', onClick: () => onBulk('remove-database') },
        ...(off < count ? [{ label: 'Turn off', onClick: () => onBulk('turn-off') }] : []),
        ...(off > 0 ? [{ label: 'Turn on', onClick: () => onBulk('turn-on') }] : []),
        { label: 'Export', onClick: onExport },
        {
          label: 'Remove endpoints',
          icon: <IconTrash />,
          danger: true,
          onClick: () => onBulk('remove'),
        },
      ]}
      onIntent={onIntent}
      onClear={onClear}
    />
  )
}
