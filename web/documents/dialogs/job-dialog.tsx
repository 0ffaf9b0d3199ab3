import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { JobView } from '../../../server/contract/job.ts'
import { ApiFailure } from '../../app/api.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { LoadFailure } from '../../shared/ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../shared/ui/feedback/skeleton-rows.tsx'
import { Dialog, DialogActions } from '../../shared/ui/overlay/dialog.tsx'
import { formatCount } from '../../shared/ui/text/format-bytes.ts'
import { jobQuery } from '../queries.ts'
import { useDocumentsLocation } from '../use-documents-location.ts'
import classes from './job-dialog.module.css'

/**
 * Shows the progress of a job. Closing it does not cancel the job, which survives a server restart.
 */
export function JobDialog({ database, id }: { database: string; id: string }) {
  const { close } = useDocumentsLocation()
  const queryClient = useQueryClient()
  const { data: job, error, refetch } = useQuery(jobQuery(database, id))
  const ended = job !== undefined && job.state !== 'running'
  useEffect(() => {
    if (!ended || job === undefined) return
    announce(formatJobResult(job))
    void queryClient.invalidateQueries({ queryKey: ['document', database] })
    void queryClient.invalidateQueries({ queryKey: ['database'] })
  }, [ended, job, queryClient, database])
  return (
    <Dialog title={job === undefined ? 'Job' : titles[job.kind]} onClose={close}>
      {job === undefined && error === null && <SkeletonRows what="the job" />}
      {error !== null &&
        job === undefined &&
        (error instanceof ApiFailure && error.status === 404 ? (
          <p>Job not found. Ended jobs are deleted after a day.</p>
        ) : (
          <LoadFailure what="The job" error={error} onRetry={refetch} />
        ))}
      {job !== undefined && !ended && <Progress job={job} error={error} />}
      {job !== undefined && ended && <Outcome job={job} />}
      <DialogActions>
        <Button variant={ended ? 'filled' : 'default'} onClick={close} data-autofocus>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const titles: Record<JobView['kind'], string> = {
  create: 'Creating documents',
  delete: 'Deleting documents',
  patch: 'Changing documents',
  list: 'Listing documents',
  import: 'Importing documents',
}

const verbs: Record<JobView['kind'], string> = {
  create: 'created',
  delete: 'deleted',
  patch: 'changed',
  list: 'listed',
  import: 'imported',
}

function Progress({ job, error }: { job: JobView; error: Error | null }) {
  const { done, total, kind } = job
  return (
    <>
      <progress
        className={classes.bar}
        aria-label={titles[job.kind]}
        max={total ?? undefined}
        value={total === null ? undefined : done}
      />
      <p className="dim">
        {formatCount(done)}
        {total !== null && ` of ${formatCount(total)}`} documents of {placeOf(job)} processed. The
        job continues when you close this dialog.
        {kind !== 'import' && ' The change becomes visible when it is complete.'}
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

function formatJobResult(job: JobView): string {
  const { kind, found, failure } = job
  const changed = `${formatCount(found)} document${found === 1 ? '' : 's'} of ${placeOf(job)} ${found === 1 ? 'was' : 'were'} ${verbs[kind]}.`
  if (failure === null) return changed
  return `${kind === 'import' ? changed : `Nothing was ${verbs[kind]}.`} ${failure.message}`
}

const placeOf = ({ collection }: JobView) => collection ?? 'the database'
