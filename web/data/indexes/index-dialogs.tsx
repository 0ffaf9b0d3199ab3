import { useQueryClient } from '@tanstack/react-query'
import type { DocumentIndex } from '../../../server/contract/document-index.ts'
import { ignoreMissing, requireOk } from '../../api/client.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { collectionClient } from '../document-client.ts'
import { indexesQuery } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'
import { CreateIndexDialog } from './create-index-dialog.tsx'
import { IndexFields } from './index-fields.tsx'
import { useIndexesLocation } from './use-indexes-location.ts'

/** Renders the dialog that the URL search selects. */
export function IndexDialogs({ indexes }: { indexes: readonly DocumentIndex[] }) {
  const { search, close } = useIndexesLocation()
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  if (!mayChange) {
    return (
      <UnavailableDialog title={ownRole} onClose={close}>
        Only editors, operators and admins can change indexes. Ask an admin for that role.
      </UnavailableDialog>
    )
  }
  if (search.create !== undefined) return <CreateIndexDialog indexes={indexes} />
  const { remove = '' } = search
  const index = indexes.find(({ name }) => name === remove)
  return <DeleteIndexDialog key={remove} name={remove} index={index} />
}

interface DeleteIndexDialogProps {
  readonly name: string
  /** Undefined if there is no such index. */
  readonly index: DocumentIndex | undefined
}

function DeleteIndexDialog({ name, index }: DeleteIndexDialogProps) {
  const { collectionRef, close } = useIndexesLocation()
  const remove = useDeleteIndex(collectionRef)
  if (index === undefined) {
    if (!remove.isIdle) return null
    return (
      <UnavailableDialog title={`There is no index ${name}`} name={name} onClose={close}>
        It was deleted or never existed.
      </UnavailableDialog>
    )
  }
  return (
    <ConfirmDialog
      title={`Delete index ${name}?`}
      name={name}
      keep="Keep it"
      error={remove.error?.message ?? ''}
      confirm={{
        label: 'Delete index',
        busy: remove.isPending,
        run: () => remove.mutate(name, { onSuccess: close }),
      }}
      onClose={close}
    >
      <p>
        The index is on <IndexFields fields={index.fields} isSentence />.
      </p>
      <p>
        Documents will not be changed. Queries that use the index will read the whole collection
        instead, and may be rejected because they take too long.
      </p>
    </ConfirmDialog>
  )
}

function deleteIndex(collectionRef: CollectionRef, name: string): Promise<void> {
  const { param, indexes } = collectionClient(collectionRef)
  return ignoreMissing(
    requireOk(
      indexes[':name'].$delete(
        { param: { ...param, name: encodeURIComponent(name) } },
        { headers: { Prefer: 'return=minimal' } },
      ),
    ),
  )
}

/** Deletes an index. */
function useDeleteIndex(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (name: string) => deleteIndex(collectionRef, name),
    change: (name) => ({
      what: `The index ${name} of ${formatCollection(collectionRef)}`,
      done: 'deleted',
    }),
    onSuccess: (_, name) => {
      showToast({ text: `Index ${name} deleted`, name })
      return queryClient.invalidateQueries(indexesQuery(collectionRef))
    },
  })
}
