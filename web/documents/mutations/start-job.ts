import { useMutation, useQueryClient } from '@tanstack/react-query'
import { watchJob } from '../dialogs/watch-job.ts'

/**
 * Starts a job; the data is its id. The documents are refetched when it ends, even if the dialog was
 * closed before the response.
 *
 * @param start sends the request, and resolves with the id of the job.
 */
export function useStartJob<T>(database: string, start: (input: T) => Promise<string>) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: start,
    onSuccess: (job) => watchJob(queryClient, database, job),
  })
}
