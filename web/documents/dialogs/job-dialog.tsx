import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { JobView } from '../../server/contract/job.ts'
import { ApiFailure } from '../api.ts'
import { announce } from '../ui/announce.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { sayCount } from '../ui/say-bytes.ts'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import classes from './job-dialog.module.css'
import { jobQuery } from './queries.ts'
import { useDocumentsLocation } from './use-documents-location.ts'

/** How far a job is. Closing it stops nothing: it goes on, also after a restart of the server. */
export function JobDialog({ database, id }: { database: string; id: string }) {
  const { close } = useDocumentsLocation()
  const queryClient = useQueryClient()
  const { data: job, error, refetch } = useQuery(jobQuery(database, id))
  const ended = job !== undefined && job.state !== 'running'
  useEffect(() => {
    if (!ended || job === undefined) return
    announce(sayEnd(job))
    void queryClient.invalidateQueries({ queryKey: ['document', database] })
    void queryClient.invalidateQueries({ queryKey: ['database'] })
  }, [ended, job, queryClient, database])
  return (
    <Dialog title={job === undefined ? 'Job' : titles[job.kind]} onClose={close}>
      {job === undefined && error === null && <SkeletonRows what="the job" />}
      {error !== null &&
        job === undefined &&
        (error instanceof ApiFailure && error.status === 404 ? (
          <p>There is no such job here. What has ended is forgotten after a day.</p>
        ) : (
          <LoadFailure what="The job" error={error} onRetry={refetch} />
        ))}
      {job !== undefined && !ended && <Progress job={job} />}
      {job !== undefined && ended && <Outcome job={job} />}
      <div className={classes.actions}>
        <Button variant={ended ? 'filled' : 'default'} onClick={close} data-autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  )
}

const titles: Record<JobView['kind'], string> = {
  create: 'Creating documents',
  delete: 'Deleting documents',
  patch: 'Changing documents',
  list: 'Listing documents',
}

const verbs: Record<JobView['kind'], string> = {
  create: 'created',
  delete: 'deleted',
  patch: 'changed',
  list: 'listed',
}

function Progress({ job }: { job: JobView }) {
  const { done, total, collection } = job
  return (
    <>
      <progress
        className={classes.bar}
        aria-label={titles[job.kind]}
        max={total ?? undefined}
        value={total === null ? undefined : done}
      />
      <p className="dim">
        {sayCount(done)}
        {total !== null && ` of ${sayCount(total)}`} documents of {collection} gone through. It goes
        on when you close this; others see all of it or nothing.
      </p>
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
      {sayEnd(job)}
    </p>
  )
}

function sayEnd({ kind, found, collection, failure }: JobView): string {
  if (failure !== null) return `Nothing was ${verbs[kind]}. ${failure.message}`
  return `${sayCount(found)} document${found === 1 ? '' : 's'} of ${collection} ${found === 1 ? 'was' : 'were'} ${verbs[kind]}.`
}
