import { IconTrash } from '../../ui/icon/icons.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { SelectionBar } from '../../ui/table/selection-bar.tsx'
import { formatSelected } from '../model/selection.ts'

/** The bulk actions. */
export type BulkAction = 'add' | 'remove-database' | 'remove'

/** Shows the number of selected rows and the bulk actions. */
export function EndpointSelectionBar(props: {
  count: number
  hidden: number
  onBulk: (action: BulkAction) => void
  onIntent: () => void
  onExport: () => void
  onClear: () => void
}) {
  const { count, hidden, onBulk, onIntent, onExport, onClear } = props
  return (
    <SelectionBar
      label="Selected endpoints"
      status={formatSelected(count, hidden)}
      compact={useNarrowScreen()}
      actions={[
        { label: 'Add a database', onClick: () => onBulk('add') },
        { label: 'Remove a database', onClick: () => onBulk('remove-database') },
        { label: 'Export', onClick: onExport },
        { label: 'Remove endpoints', icon: <IconTrash />, onClick: () => onBulk('remove') },
      ]}
      onIntent={onIntent}
      onClear={onClear}
    />
  )
}
