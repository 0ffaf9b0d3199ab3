import { Button } from '@mantine/core'
import { lazy } from 'react'
import { useHasRole } from '../../shared/session/person.ts'
import { LazyBoundary } from '../../shared/ui/feedback/lazy-boundary.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { formatCount } from '../../shared/ui/text/format-bytes.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { useShowChange } from './last-change.tsx'
import classes from './selection-bar.module.css'
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
  const { search, bulk, close } = useDocumentsLocation()
  const mayChange = useHasRole('operator')
  const show = useShowChange()
  const { ids, isAll, isFull } = selection
  const isSome = isAll || ids.size > 0
  const Dialog = search.bulk === 'edit' ? EditSelected : DeleteSelected
  return (
    <>
      {mayChange && isSome && (
        <section
          aria-label="Selected documents"
          className={classes.bar}
          data-selection-bar=""
          tabIndex={-1}
        >
          <span role="status" className={classes.count}>
            {isAll
              ? `All ${search.filter === undefined ? 'documents' : 'that match'} are selected`
              : `${formatCount(ids.size)} selected`}
            {isFull && ', the maximum'}
          </span>
          {!isAll && hasMore && (
            <Button ref={keepFocus} variant="subtle" onClick={onChooseAll}>
              {search.filter === undefined ? 'Select all documents' : 'Select all that match'}
            </Button>
          )}
          <div className={classes.actions}>
            <Button variant="default" onClick={() => bulk('edit')}>
              Edit
            </Button>
            <Button variant="default" onClick={() => bulk('delete')}>
              Delete
            </Button>
            <Button ref={keepFocus} variant="subtle" onClick={onClear}>
              Clear selection
            </Button>
          </div>
        </section>
      )}
      {mayChange && isSome && search.bulk !== undefined && (
        <LazyBoundary>
          <Dialog
            collectionRef={collectionRef}
            selection={selection}
            onClose={close}
            onDone={(result) => {
              if (result !== undefined) show({ collectionRef, outcome: result })
              // Failed documents stay selected.
              onChoose((result?.failures ?? []).map(({ id }) => id))
            }}
          />
        </LazyBoundary>
      )}
    </>
  )
}
