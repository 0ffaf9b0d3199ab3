import { useQueryClient } from '@tanstack/react-query'
import type { RequestedChange } from '../../shared/reports/failure-store.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { type CollectionRef, formatCollection } from '../use-documents-location.ts'
import { watchJob } from './watch-job.ts'

interface JobOptions<T> {
  /** What the job does: "deletes documents". */
  readonly does: string
  /** Sends the request, and resolves with the id of the job. */
  readonly start: (input: T) => Promise<string>
  /** Called even if the component is unmounted. */
  readonly onStarted?: () => void
}

/**
 * Starts a job; the data is its id. The documents are refetched when it ends, even if the dialog was
 * closed before the response.
 */
export function useStartJob<T>(
  collectionRef: CollectionRef,
  { does, start, onStarted }: JobOptions<T>,
) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: (): RequestedChange => ({
      what: `The job that ${does} of ${formatCollection(collectionRef)}`,
      done: 'started',
    }),
    mutationFn: start,
    onSuccess: (job) => {
      onStarted?.()
      watchJob(queryClient, collectionRef.database, job)
    },
  })
}
