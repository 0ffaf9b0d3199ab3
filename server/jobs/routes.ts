import { type Context, Hono } from 'hono'
import { PAGE } from '../contract/document.ts'
import type { JobView } from '../contract/job.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { type Body, partsBody } from '../http/parts-body.ts'
import type { Permit } from '../http/permit.ts'
import type { Reserve } from '../http/response-room.ts'
import { type Filter, failureOf, type Job, type Where } from './job.ts'
import type { Jobs } from './jobs.ts'

/** How many batches of documents one request for the results of a listing reads: at most 20 MiB. */
const BATCHES = 20

interface Page {
  /** The documents as a JSON array. */
  readonly json: Body
  /** The id after which the next page begins; undefined: this is the last one. */
  readonly next: string | undefined
}

/** The documents of collections, as the results of a listing are read (`documents/documents.ts`). */
export interface Listed {
  page(
    where: Where,
    filter: Filter,
    after: string | undefined,
    limit: number,
    bounds: {
      readonly batches: number
      readonly upTo: string
      readonly reserve: (bytes: number) => Promise<void>
    },
  ): Promise<Page>
}

/** What the routes of jobs are made of. */
export interface JobRoutesDeps {
  readonly jobs: Jobs
  readonly documents: Listed
  readonly permit: Permit
  readonly reserve: Reserve
  /** The id of a database that exists. */
  readonly idOf: (database: string) => string
}

/**
 * `/_job/<id>`: how far a job is. 206 with what there is while it runs, 200 once it has ended, also
 * where it has failed: then the answer says with what. The results of a listing are read from the
 * collection, up to where the job has come: documents that were deleted, or do not pass the filter any
 * more, are not among them.
 */
export const jobRoutes = ({ jobs, documents, permit, reserve, idOf }: JobRoutesDeps) =>
  new Hono<AppEnv>().get('/:id', permit('viewer'), async (c) => {
    const job = await jobs.read(idOf(c.get('database')), c.req.param('id'))
    const limit = readLimit(c.req.query('limit'))
    const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
    const view = toView(job)
    const status = view.state === 'running' ? 206 : 200
    if (job.kind !== 'list') return c.json(view, status, headers)
    const page = await results(documents, job, c.req.query('after'), limit, (bytes) =>
      reserve(c, bytes),
    )
    if (page.next !== undefined) headers.Link = linkToNext(c, page.next)
    headers['Content-Type'] = 'application/json'
    // Put in as they are stored: to parse them would be to print them again.
    const before = `${JSON.stringify(view).slice(0, -1)},"documents":`
    const { json } = page
    const text: Body =
      typeof json === 'string'
        ? `${before}${json}}`
        : [Buffer.from(before), ...json, Buffer.from('}')]
    const [body, length] = partsBody(text)
    return c.body(body, status, { ...headers, ...length })
  })

/** A page of what a listing has found so far. */
async function results(
  documents: Listed,
  job: Job,
  after: string | undefined,
  limit: number,
  reserve: (bytes: number) => Promise<void>,
): Promise<Page> {
  const { cursor, request } = job
  if (cursor === null) return { json: '[]', next: undefined }
  const bounds = { batches: BATCHES, upTo: cursor, reserve }
  return documents.page(job, request.filter, after, limit, bounds)
}

function toView(job: Job): JobView {
  const failure = failureOf(job)
  return {
    id: job.id,
    kind: job.kind,
    collection: job.collection,
    state: job.state === 'done' || job.state === 'failed' ? job.state : 'running',
    done: job.done,
    total: job.total,
    found: job.found,
    failure:
      failure === undefined
        ? null
        : { id: failure.kind.id, message: failure.message, ...failure.details },
    created: new Date(job.createdAt).toISOString(),
    updated: new Date(job.updatedAt).toISOString(),
  }
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return PAGE.usual
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= PAGE.most) return limit
  throw new Failure('bad-parameter', `limit is a whole number from 1 to ${PAGE.most}.`)
}

/** RFC 8288, for the page after this one. */
function linkToNext(c: Context<AppEnv>, after: string): string {
  const url = new URL(c.req.url)
  url.searchParams.set('after', after)
  return `<${url.pathname}${url.search}>; rel="next"`
}
