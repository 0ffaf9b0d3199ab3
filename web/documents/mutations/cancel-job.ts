import { useQueryClient } from '@tanstack/react-query'
import type { JobView } from '../../../server/contract/job.ts'
import { databaseApi, readJson } from '../../api/client.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { jobQuery } from '../queries.ts'

/** Cancels a job. No effect if it has ended. */
async function cancelJob(database: string, id: string): Promise<JobView> {
  const param = { id: encodeURIComponent(id) }
  return (await readJson(databaseApi(database)._job[':id'].$delete({ param }))) as JobView
}

/** Cancels a job, and shows the state in which it has ended. */
export function useCancelJob(database: string, id: string) {
  const queryClient = useQueryClient()
  const { queryKey } = jobQuery(database, id)
  return useSingleMutation({
    mutationFn: () => cancelJob(database, id),
    async onSuccess(job) {
      // A response from before the cancellation would show the job as running.
      await queryClient.cancelQueries({ queryKey })
      queryClient.setQueryData(queryKey, job)
    },
  })
}
