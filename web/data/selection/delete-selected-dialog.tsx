import { useQuery } from '@tanstack/react-query'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { capitalize } from '../../ui/text/capitalize.ts'
import { formatJson } from '../editor/document-text.ts'
import { JsonBlock } from '../editor/json-block.tsx'
import { conditionsOf } from '../model/conditions.ts'
import { deleteEach, deleteMatching } from '../mutations/change-selected.ts'
import { describeGone, formatDocuments } from '../mutations/describe-outcome.ts'
import { useStartJob } from '../mutations/start-job.ts'
import { useChangeSelected } from '../mutations/use-change-selected.ts'
import { useDataLocation } from '../use-data-location.ts'
import { DeleteManyDialog } from './delete-many-dialog.tsx'
import classes from './delete-selected-dialog.module.css'
import { describeMatching, useMatchingCount } from './describe-matching.ts'
import { type SelectionDialogProps, selectedQuery } from './selection-dialog.ts'

/** Maximum number of documents to show. */
const MAX_SHOWN = 3

/** Asks for confirmation before the selected documents are deleted. */
export function DeleteSelectedDialog(props: SelectionDialogProps) {
  return props.selection.isAll ? <DeleteMatching {...props} /> : <DeleteSome {...props} />
}

function DeleteSome({ collectionRef, selection, onClose, onDone }: SelectionDialogProps) {
  const query = useQuery(selectedQuery(collectionRef, selection.ids))
  const change = useChangeSelected(collectionRef)
  const documents = query.data ?? []
  const isGone = query.data?.length === 0
  const count = formatDocuments(selection.ids.size)
  return (
    <ConfirmDialog
      title={`Delete ${count}?`}
      keep={isGone ? 'Cancel' : 'Keep them'}
      error={change.error?.message ?? ''}
      confirm={
        isGone
          ? {
              label: 'Clear selection',
              busy: false,
              harmless: true,
              run: () => onDone(undefined),
            }
          : {
              label: change.isPending ? 'Deleting…' : 'Delete documents',
              busy: change.isPending || query.data === undefined,
              run: () =>
                change.mutate(() => deleteEach(collectionRef, documents), { onSuccess: onDone }),
            }
      }
      onClose={onClose}
    >
      <QueryResult query={query} what="the documents">
        {(found) => (
          <>
            <p>
              {found.length < selection.ids.size &&
                `${describeGone(selection.ids.size - found.length)}. `}
              {found.length > 0 &&
                'Documents that change before you delete them will be kept. You can undo this for ten seconds.'}
            </p>
            <div className={classes.documents}>
              {found.slice(0, MAX_SHOWN).map(({ id, json }) => (
                <JsonBlock key={id} label={`Document ${id} as JSON`} text={formatJson(json)} />
              ))}
            </div>
            {found.length > MAX_SHOWN && <p>and {found.length - MAX_SHOWN} more</p>}
          </>
        )}
      </QueryResult>
    </ConfirmDialog>
  )
}

function DeleteMatching({ collectionRef, onClose }: SelectionDialogProps) {
  const { collection } = collectionRef
  const { search, follow } = useDataLocation()
  const conditions = conditionsOf(search.filter)
  const count = useMatchingCount(collectionRef, search.filter)
  const remove = useStartJob(collectionRef, {
    does: 'deletes documents',
    start: () => deleteMatching(collectionRef, conditions),
  })
  return (
    <DeleteManyDialog
      title={`Delete documents in ${collection}?`}
      collection={collection}
      label="Delete documents"
      deletion={remove}
      onDelete={() => remove.mutate(undefined, { onSuccess: follow })}
      onClose={onClose}
    >
      <p>
        {capitalize(describeMatching(conditions, count))} will be deleted permanently, on all pages.
      </p>
    </DeleteManyDialog>
  )
}
