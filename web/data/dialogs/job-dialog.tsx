import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { JobView } from '../../../server/contract/job.ts'
import { ApiFailure, databaseApi, readJson } from '../../api/client.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { Dialog, DialogActions } from '../../ui/overlay/dialog.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import {
  formatJobResult,
  formatJobTitle,
  jobNouns,
  placeOf,
} from '../mutations/format-job-result.ts'
import { watchJob } from '../mutations/start-job.ts'
import { jobQuery } from '../queries.ts'
import { useDataLocation } from '../use-data-location.ts'
import classes from './job-dialog.module.css'

/**
 * Shows the progress of a job, with Cancel. Closing it does not cancel the job, which survives a
 * server restart.
 */
export function JobDialog({ database, id }: { database: string; id: string }) {
  const { close } = useDataLocation()
  const queryClient = useQueryClient()
  const { data: job, error, refetch } = useQuery(jobQuery(database, id))
  const ended = job !== undefined && job.state !== 'running'
  const mayChange = useHasRole(job?.collection === null ? 'operator' : 'editor')
  const mayCancel = mayChange && job !== undefined && !ended
  const cancel = useCancelJob(database, id)
  useEffect(() => watchJob(queryClient, database, id), [queryClient, database, id])
  return (
    <Dialog title={job === undefined ? 'Job' : formatJobTitle(job)} onClose={close}>
      {job === undefined && error === null && <SkeletonRows what="the job" />}
      {error !== null &&
        job === undefined &&
        (error instanceof ApiFailure && error.status === 404 ? (
          <p>Job not found. Ended jobs are deleted after a day.</p>
        ) : (
          <LoadFailure what="The job" error={error} onRetry={refetch} />
        ))}
      {job !== undefined && !ended && <Progress job={job} error={error} mayCancel={mayCancel} />}
      {job !== undefined && ended && <Outcome job={job} />}
      {!ended && cancel.error !== null && (
        <p role="alert" className={classes.outcome} data-failed>
          The job could not be cancelled. {cancel.error.message}
        </p>
      )}
      <DialogActions>
        {mayCancel && (
          <Button
            variant="default"
            aria-disabled={cancel.isPending || undefined}
            onClick={() => cancel.mutate()}
          >
            {cancel.isPending ? 'Cancelling…' : `Cancel ${jobNouns[job.kind]}`}
          </Button>
        )}
        <Button variant={ended ? 'filled' : 'default'} onClick={close} data-autofocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** What remains of a job that is cancelled. */
const keptAfterCancel: Record<JobView['kind'], string> = {
  delete: 'documents that are deleted by then stay deleted',
  patch: 'documents that are changed by then stay changed',
  list: 'the documents listed by then stay listed',
  import: 'documents that are stored by then stay',
}

interface ProgressProps {
  readonly job: JobView
  readonly error: Error | null
  readonly mayCancel: boolean
}

function Progress({ job, error, mayCancel }: ProgressProps) {
  const { done, total, kind } = job
  return (
    <>
      <progress
        className={classes.bar}
        aria-label={formatJobTitle(job)}
        max={total ?? undefined}
        value={total === null ? undefined : done}
      />
      <p className="dim">
        {formatCount(done)}
        {total !== null && ` of ${formatCount(total)}`} documents of {placeOf(job)} processed. The
        job continues when you close this dialog.
        {mayCancel && ` If you cancel it, ${keptAfterCancel[kind]}.`}
      </p>
      {error !== null && (
        <p role="alert" className={classes.outcome} data-failed>
          The progress could not be loaded. {error.message}
        </p>
      )}
    </>
  )
}

function Outcome({ job }: { job: JobView }) {
  const { failure } = job
  return (
    <p
      role={failure === null ? undefined : 'alert'}
      className={classes.outcome}
      data-failed={failure !== null || undefined}
    >
      {formatJobResult(job)}
    </p>
  )
}

/** Cancels a job. No effect if it has ended. */
async function cancelJob(database: string, id: string): Promise<JobView> {
  const param = { id: encodeURIComponent(id) }
  return (await readJson(databaseApi(database)._job[':id'].$delete({ param }))) as JobView
}

/** Cancels a job, and shows the state in which it has ended. */
function useCancelJob(database: string, id: string) {
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
