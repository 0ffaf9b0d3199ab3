import { Button } from '@mantine/core'
import { lazy, useState } from 'react'
import { LazyBoundary } from '../../shared/ui/feedback/lazy-boundary.tsx'
import { formatCount } from '../../shared/ui/text/format-bytes.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import { MAX_SELECTED, type SelectionOutcome } from './change-selected.ts'
import classes from './selection-bar.module.css'
import { UndoChanges } from './undo-changes.tsx'
import type { DocumentSelection } from './use-selected-ids.ts'

const DeleteSelected = lazy(async () => ({
  default: (await import('./delete-selected-dialog.tsx')).DeleteSelectedDialog,
}))
const EditSelected = lazy(async () => ({
  default: (await import('./edit-selected-dialog.tsx')).EditSelectedDialog,
}))

export interface SelectionBarProps {
  readonly collectionRef: CollectionRef
  readonly selection: DocumentSelection
  /** Whether there are documents on other pages. */
  readonly hasMore: boolean
  readonly onChoose: (ids: Iterable<string>) => void
  readonly onChooseAll: () => void
  readonly onClear: () => void
}

/** Shows the number of selected documents, with buttons to edit and delete them. */
export function SelectionBar(props: SelectionBarProps) {
  const { collectionRef, selection, hasMore, onChoose, onChooseAll, onClear } = props
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const [outcome, setOutcome] = useState<SelectionOutcome>()
  const { ids, isAll } = selection
  const Dialog = open === 'edit' ? EditSelected : DeleteSelected
  return (
    <>
      {(isAll || ids.size > 0) && (
        <section aria-label="Selected documents" className={classes.bar}>
          <span role="status" className={classes.count}>
            {isAll ? 'All that match are selected' : `${formatCount(ids.size)} selected`}
            {ids.size === MAX_SELECTED && ', the maximum'}
          </span>
          {!isAll && hasMore && (
            <Button variant="subtle" onClick={onChooseAll}>
              Select all that match
            </Button>
          )}
          <Button variant="default" onClick={() => setOpen('edit')}>
            Edit
          </Button>
          <Button variant="default" onClick={() => setOpen('delete')}>
            Delete
          </Button>
          <Button variant="subtle" onClick={onClear}>
            Clear selection
          </Button>
        </section>
      )}
      {open !== undefined && (
        <LazyBoundary>
          <Dialog
            collectionRef={collectionRef}
            selection={selection}
            onClose={() => setOpen(undefined)}
            onDone={(result) => {
              // What failed stays selected.
              onChoose(result.failures.map(({ id }) => id))
              setOutcome(result)
              setOpen(undefined)
            }}
          />
        </LazyBoundary>
      )}
      {outcome !== undefined && (
        <UndoChanges
          key={outcome.changes.map(({ before }) => before.etag).join()}
          collectionRef={collectionRef}
          outcome={outcome}
          onClose={() => setOutcome(undefined)}
        />
      )}
    </>
  )
}
