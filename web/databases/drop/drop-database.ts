import { useQueryClient } from '@tanstack/react-query'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { databasesQuery } from '../../api/queries.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'

const dropDatabase = (name: string) =>
  ignoreMissing(readJson(api._api.database[':name'].$delete({ param: { name } })))

/** Drops a database. */
export function useDropDatabase() {
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
