import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import { showToast } from '../../shared/toast/toast.ts'
import { jobQuery } from '../queries.ts'
import { hasStatus } from './conflict-error.ts'
import { formatJobResult, formatJobTitle } from './format-job-result.ts'

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
