import { type QueryClient, QueryObserver, useQueryClient } from '@tanstack/react-query'
import type { RequestedChange } from '../../shared/reports/failure-store.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { hasStatus } from '../document-client.ts'
import { jobQuery } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-data-location.ts'
import { formatJobResult, formatJobTitle } from './format-job-result.ts'

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

/** The jobs that are watched, by database and id. */
const watched = new Set<string>()

/**
 * Watches a job until it ends, even if its dialog is closed or another page is opened. Then
 * announces the result and refetches the documents of the database.
 */
export function watchJob(queryClient: QueryClient, database: string, id: string): void {
  const key = `${database}/${id}`
  if (watched.has(key)) return
  watched.add(key)
  const observer = new QueryObserver(queryClient, jobQuery(database, id))
  const unsubscribe = observer.subscribe(({ data: job, error }) => {
    const hasEnded = job !== undefined && job.state !== 'running'
    // After a sign-in or a change of the role, the job is fetched again.
    if (!hasEnded && !hasStatus(error, 404)) return
    // Deferred, because `subscribe` may call this before it returns `unsubscribe`.
    queueMicrotask(() => unsubscribe())
    if (!watched.delete(key) || !hasEnded) return
    const text = formatJobResult(job)
    showToast(
      job.failure === null ? { text } : { text: formatJobTitle(job), failures: [{ reason: text }] },
    )
    void queryClient.invalidateQueries({ queryKey: ['document', database] })
    void queryClient.invalidateQueries({ queryKey: ['database'] })
  })
}
