import { lazy } from 'react'
import { useHasRole } from '../../api/session/person.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { IconPencil, IconTrash } from '../../ui/icon/icons.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { SelectionBar } from '../../ui/table/selection-bar.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import { useCompactToolbar } from '../use-compact-toolbar.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import type { DocumentSelection } from './use-selected-ids.ts'

const DeleteSelected = lazy(async () => ({
  default: (await import('./delete-selected-dialog.tsx')).DeleteSelectedDialog,
}))
const EditSelected = lazy(async () => ({
  default: (await import('./edit-selected-dialog.tsx')).EditSelectedDialog,
}))

export interface DocumentSelectionBarProps {
  readonly collectionRef: CollectionRef
  readonly selection: DocumentSelection
  /** Whether there are documents on other pages. */
  readonly hasMore: boolean
  readonly onChoose: (ids: Iterable<string>) => void
  readonly onChooseAll: () => void
  readonly onClear: () => void
}

/** Shows the number of selected documents, with buttons to edit and delete them. */
export function DocumentSelectionBar(props: DocumentSelectionBarProps) {
  const { collectionRef, selection, hasMore, onChoose, onChooseAll, onClear } = props
  const { search, bulk, close } = useDataLocation()
  const mayChange = useHasRole('editor')
  const { ids, isAll } = selection
  const compact = useCompactToolbar()
  const narrow = useNarrowScreen()
  const isSome = isAll || ids.size > 0
  const Dialog = search.bulk === 'edit' ? EditSelected : DeleteSelected
  return (
    <>
      {mayChange && isSome && (
        <SelectionBar
          label="Selected documents"
          status={formatStatus(selection, search.filter !== undefined)}
          compact={narrow || compact}
          actions={[
            ...(!isAll && hasMore
              ? [
                  {
                    label:
                      search.filter === undefined
                        ? 'Select all documents'
                        : 'Select all that match',
                    onClick: onChooseAll,
                  },
                ]
              : []),
            { label: 'Edit', icon: <IconPencil />, onClick: () => bulk('edit') },
            {
              label: 'Delete',
              icon: <IconTrash />,
              danger: true,
              onClick: () => bulk('delete'),
            },
          ]}
          onClear={onClear}
        />
      )}
      {mayChange && isSome && search.bulk !== undefined && (
        <LazyBoundary>
          <Dialog
            collectionRef={collectionRef}
            selection={selection}
            onClose={close}
            onDone={(result) => {
              // Failed documents stay selected.
              onChoose((result?.failures ?? []).map(({ id }) => id))
            }}
          />
        </LazyBoundary>
      )}
    </>
  )
}

function formatStatus(selection: DocumentSelection, isFiltered: boolean): string {
  const { ids, isAll, elsewhere, isFull } = selection
  if (isAll) return `All ${isFiltered ? 'that match' : 'documents'} are selected`
  const maximum = isFull ? ', the maximum' : ''
  const others = elsewhere === 0 ? '' : ` · ${formatCount(elsewhere)} on other pages`
  return `${formatCount(ids.size)} selected${maximum}${others}`
}
