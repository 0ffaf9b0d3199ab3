import { useQueryClient } from '@tanstack/react-query'
import { ApiFailure, api, readJson } from '../api/client.ts'
import { databasesQuery } from '../api/queries.ts'
import { useReportedMutation } from './reports/use-reported-mutation.ts'
import { showToast } from './toast/toast.ts'

/** Error number for a duplicate database name. */
const DUPLICATE = 1207

interface CreateDatabaseOptions {
  /** Whether an existing database counts as created. */
  readonly acceptExisting?: boolean
  /** Called before the databases are read again, even if the component is unmounted. */
  readonly onCreated?: (() => void) | undefined
}

async function createDatabase(name: string, acceptExisting: boolean): Promise<void> {
  try {
    await readJson(api._api.database.$post({ json: { name } }))
  } catch (error) {
    const exists = error instanceof ApiFailure && error.errorNum === DUPLICATE
    if (!(exists && acceptExisting)) throw error
  }
}

/** Creates a database by name. */
export function useCreateDatabase({ acceptExisting = false, onCreated }: CreateDatabaseOptions) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (name: string) => createDatabase(name, acceptExisting),
    change: (name) => ({ what: `Database ${name}`, done: 'created' }),
    onSuccess: (_, name) => {
      showToast({ text: `Database ${name} created`, name })
      onCreated?.()
      return queryClient.invalidateQueries({ queryKey: databasesQuery.queryKey })
    },
  })
}
