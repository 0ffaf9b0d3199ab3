import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, ignoreMissing, NoResponse, readJson } from '../../api/client.ts'
import { collectionsQuery, databasesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.tsx'
import { TypedConfirmDialog } from '../../ui/overlay/typed-confirm-dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { useDataLocation } from '../use-data-location.ts'
import { exportPath, SYSTEM_NOT_DROPPABLE } from './database-page.tsx'
import { dropConsequences } from './drop-consequences.ts'
import { useDatabaseRows } from './use-database-rows.ts'

/**
 * Asks for confirmation before a database is dropped, or says why it cannot be. The user types the
 * name of a database that contains documents.
 */
export function DropDatabaseDialog({ name }: { name: string }) {
  const { close, showDatabase } = useDataLocation()
  const { rows, names, endpoints } = useDatabaseRows()
  const row = rows.find((each) => each.name === name)
  const ownRole = useOwnRole()
  const mayChange = useHasRole('operator')
  const drop = useDropDatabase()
  // The collections that contain documents. The sizes of the row may be older.
  const collections = useQuery({
    ...collectionsQuery(name),
    enabled: drop.isIdle && mayChange && row !== undefined && name !== '_system',
  })
  const isRead = collections.isFetchedAfterMount && collections.isSuccess
  const dialog = { onClose: close }
  if (name === '_system') {
    return (
      <ConfirmDialog {...dialog} title="_system cannot be dropped" keep="Close">
        <p>{SYSTEM_NOT_DROPPABLE} You can delete its collections.</p>
      </ConfirmDialog>
    )
  }
  if (!mayChange) {
    return (
      <UnavailableDialog {...dialog} title={ownRole}>
        Only operators and admins can drop databases. Ask an admin for that role.
      </UnavailableDialog>
    )
  }
  if (row === undefined) {
    if (!drop.isIdle || names.data === undefined) return null
    return (
      <UnavailableDialog {...dialog} title={`There is no database ${name}`} name={name}>
        It was dropped or never existed.
      </UnavailableDialog>
    )
  }
  const isEmpty = isRead
    ? collections.data.length === 0
    : row.documents === 0 && !collections.isError
  const current = isEmpty
    ? { ...row, collections: 0, documents: 0, bytes: 0 }
    : { ...row, documents: row.documents || null }
  const unknownOutcome =
    drop.error instanceof NoResponse ? `${drop.error.message} ${UNKNOWN}` : undefined
  return (
    <TypedConfirmDialog
      {...dialog}
      title={`Drop database ${name}?`}
      keep="Keep it"
      name={name}
      effect="drop it"
      typing={!isEmpty}
      mismatch={`Type ${name} exactly as shown to drop it.`}
      error={unknownOutcome ?? drop.error?.message ?? ''}
      confirm={{
        label: 'Drop database',
        busy: drop.isPending || (isEmpty && !isRead),
        // A callback of `mutate` does not run if the dialog was closed before the response.
        run: () => drop.mutate(name, { onSuccess: () => showDatabase() }),
      }}
    >
      {dropConsequences(current, endpoints.data !== undefined).map((sentence) => (
        <p key={JSON.stringify(sentence)}>
          {sentence.map((part) =>
            typeof part === 'string' ? (
              part
            ) : (
              <span key={part.address} className="mono">
                {part.address}
              </span>
            ),
          )}
        </p>
      ))}
      {!isEmpty && (
        <p>
          <a href={exportPath(name)} download>
            Export it first
          </a>
        </p>
      )}
    </TypedConfirmDialog>
  )
}

const UNKNOWN =
  'The database may or may not have been dropped. Check the list before you try again.'

const dropDatabase = (name: string) =>
  ignoreMissing(readJson(api._api.database[':name'].$delete({ param: { name } })))

/** Drops a database. */
function useDropDatabase() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: dropDatabase,
    change: (name) => ({ what: `Database ${name}`, done: 'dropped' }),
    onSuccess: (_, name) => {
      showToast({ text: `Database ${name} dropped`, name })
      return queryClient.invalidateQueries({ queryKey: databasesQuery.queryKey })
    },
  })
}
