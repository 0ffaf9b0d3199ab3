import { Hono } from 'hono'
import { toIsoTime } from '../contract/iso-time.ts'
import { type JobView, WHOLE_DATABASE } from '../contract/job.ts'
import { parseAfter, parsePageLimit, singleValue } from '../contract/query/query-parameter.ts'
import type { Documents } from '../documents/documents.ts'
import type { ReadBounds } from '../documents/find/read-in-id-order.ts'
import type { Page } from '../documents/find/read-page.ts'
import { Failure, toErrorBody } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { authorize, type RequireRole } from '../http/guards/require-role.ts'
import { MINIMAL, prefersMinimal } from '../http/input/prefer.ts'
import { searchParameters } from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import type { Operation } from '../http/openapi/openapi-objects.ts'
import { nextLink } from '../http/output/next-link.ts'
import { type Body, partsBody } from '../http/output/parts-body.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import { failureOf, type Job } from './job.ts'
import { type Jobs, neededRole } from './jobs.ts'

/** Maximum number of batches that one request for a listing's results reads, at most 20 MiB. */
const BATCHES = 20

export interface JobRoutesDeps {
  readonly jobs: Jobs
  readonly documents: Pick<Documents, 'readInIdOrder'>
  readonly requireRole: RequireRole
  readonly reserve: Reserve
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/**
 * Returns the routes of `/_job/<id>`, the progress of a job. The status is 206 while the job runs
 * and 200 after its end, even after a failure, which the body describes. The results of a listing
 * are read from the collection up to the job's cursor, so documents that were deleted or no longer
 * match the filter are missing.
 */
export const jobRoutes = ({ jobs, documents, requireRole, reserve, idOf }: JobRoutesDeps) =>
  new Hono<AppEnv>()
    .delete('/:id', described(operations.delete, requireRole('editor')), async (c) => {
      const [database, id] = [idOf(c.get('database')), c.req.param('id')]
      authorize(c.get('principal'), neededRole(await jobs.read(database, id)))
      const job = await jobs.cancel(database, id, c.get('actor'))
      if (prefersMinimal(c)) return c.body(null, 204, MINIMAL)
      return c.json(toView(job), 200, { 'Cache-Control': 'no-store' })
    })
    .get('/:id', described(operations.get, requireRole('viewer')), async (c) => {
      const job = await jobs.read(idOf(c.get('database')), c.req.param('id'))
      // Checked for every kind of job, which the client may not know.
      const parameters = searchParameters(c)
      const limit = parsePageLimit(singleValue('limit', parameters.getAll('limit')))
      const after = parseAfter(singleValue('after', parameters.getAll('after')))
      const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
      const view = toView(job)
      const status = view.state === 'running' ? 206 : 200
      if (job.kind !== 'list') return c.json(view, status, headers)
      requireParametersOfPage(parameters)
      const page = await results(documents, job, after, limit, {
        reserve: (bytes) => reserve(c, bytes),
        signal: c.req.raw.signal,
      })
      if (page.next !== undefined) headers.Link = nextLink(c, ['after', page.next.id], parameters)
      headers['Content-Type'] = 'application/json'
      // Inserted as stored text: parsing would require printing it again.
      const before = `${JSON.stringify(view).slice(0, -1)},"documents":`
      const { json } = page
      const text: Body =
        typeof json === 'string'
          ? `${before}${json}}`
          : [Buffer.from(before), ...json, Buffer.from('}')]
      const [body, length] = partsBody(text)
      return c.body(body, status, { ...headers, ...length })
    })

const PARAMETERS = ['limit', 'after']

/** Rejects other parameters, such as filters: the request that began the listing had them. */
function requireParametersOfPage(parameters: URLSearchParams): void {
  const name = parameters.keys().find((each) => !PARAMETERS.includes(each))
  if (name === undefined) return
  throw new Failure(
    'bad-parameter',
    `The results of a listing have no parameter ${JSON.stringify(name.slice(0, 64))}. ` +
      `Parameters are ${PARAMETERS.join(', ')}.`,
    { field: name },
  )
}

/** Returns a page of the results of a listing so far. */
async function results(
  documents: JobRoutesDeps['documents'],
  job: Job,
  after: string | undefined,
  limit: number,
  request: Pick<ReadBounds, 'reserve' | 'signal'>,
): Promise<Pick<Page, 'json' | 'next'>> {
  const { cursor } = job
  if (cursor === null) return { json: '[]', next: undefined }
  const { filter, after: begin } = job.request
  const bounds = { ...request, batches: BATCHES, begin, upTo: cursor }
  return documents.readInIdOrder(job, filter, after, limit, bounds)
}

/** Returns the result of a job so far; null if it has none yet. */
function resultOf({ result, state, kind, collection }: Job): JobView['result'] {
  if (result !== null) return result
  if (kind !== 'import') return { failed: 0, errors: [] }
  if (state === 'running') return null
  const nothing = { created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] }
  return collection === WHOLE_DATABASE ? { collections: 0, ...nothing } : nothing
}

/** Returns the state that clients see: only visible jobs are read. */
const stateOf = ({ state }: Job): JobView['state'] =>
  state === 'done' || state === 'failed' || state === 'cancelled' ? state : 'running'

function toView(job: Job): JobView {
  const failure = failureOf(job)
  return {
    id: job.id,
    kind: job.kind,
    collection: job.collection === WHOLE_DATABASE ? null : job.collection,
    state: stateOf(job),
    done: job.done,
    total: job.total,
    found: job.found,
    failure: failure === undefined ? null : toErrorBody(failure),
    ...(job.kind !== 'list' && { result: resultOf(job) }),
    created: toIsoTime(job.createdAt),
    updated: toIsoTime(job.updatedAt),
  }
}

const ref = (path: string) => ({ $ref: `#/components/${path}` })

const state = (description: string) => ({
  description,
  headers: {
    Link: {
      description: 'The URL of the next documents of a listing (RFC 8288), if there are any.',
      schema: { type: 'string' as const },
    },
  },
  content: { 'application/json': { schema: ref('schemas/Job') } },
})

/** The operations of `/_job/<id>`. */
const operations = {
  get: {
    summary: 'Get a job and its progress',
    parameters: [ref('parameters/Limit'), ref('parameters/After')],
    responses: {
      '200': state('The job has ended.'),
      '206': state('The job is running.'),
      '404': ref('responses/NotFound'),
      '422': ref('responses/QueryTooExpensive'),
    },
  },
  delete: {
    summary: 'Cancel a job',
    description:
      'What the job has stored, changed or deleted stays. No effect on a job that has ended.',
    parameters: [ref('parameters/Prefer')],
    responses: {
      '200': {
        description: 'The job, without the results of a listing.',
        content: { 'application/json': { schema: ref('schemas/Job') } },
      },
      '204': {
        description: 'The job has ended; for Prefer: return=minimal.',
        headers: {
          'Preference-Applied': {
            description: 'return=minimal',
            schema: { type: 'string' as const },
          },
        },
      },
      '404': ref('responses/NotFound'),
    },
  },
} satisfies Record<string, Operation>
