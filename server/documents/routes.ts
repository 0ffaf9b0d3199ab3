import { createHash } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { BULK_BYTES, DOCUMENT_BYTES, isCollectionName, PAGE } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { AppEnv, Asked } from '../http/env.ts'
import { requireJsonType } from '../http/json-body.ts'
import { partsBody } from '../http/parts-body.ts'
import type { Permit } from '../http/permit.ts'
import { jobHeaders, MINIMAL, prefersAsync, prefersMinimal } from '../http/prefer.ts'
import { arrayChunks, readBody } from '../http/request-body.ts'
import type { Reserve } from '../http/response-room.ts'
import { textBody } from '../http/text-body.ts'
import { acceptedVersion } from '../http/version.ts'
import { type CreateBody, createBodyOf, readCreateBody } from './create-body.ts'
import type { CreatedMany } from './create-many.ts'
import type { Documents } from './documents.ts'
import { type Conditions, matchesNone, readConditions } from './entity-tag.ts'
import type { Place, StoredDocument } from './repository.ts'
import {
  accepted,
  filterOf,
  type WholeCollections,
  wholeCollectionRoutes,
} from './whole-collection-routes.ts'

/** What the routes of documents are made of. */
export interface DocumentRoutesDeps {
  readonly documents: Documents
  readonly whole: WholeCollections
  readonly permit: Permit
  readonly reserve: Reserve
  /** The id of a database that exists. */
  readonly idOf: (database: string) => string
}

const PATH = '/:collection{[a-z][a-z0-9_-]*}'

/** `/<collection>` and `/<collection>/<id>` (seed 002), in every database. */
export function documentRoutes({ documents, whole, permit, reserve, idOf }: DocumentRoutesDeps) {
  const collectionOf = (c: Context<AppEnv>) => {
    const collection = c.req.param('collection') ?? ''
    if (!isCollectionName(collection)) throw new Failure('not-found', 'There is no such path.')
    return { database: idOf(c.get('database')), collection }
  }
  const placeOf = (c: Context<AppEnv>): Place => ({
    ...collectionOf(c),
    id: c.req.param('id') ?? '',
  })
  return new Hono<AppEnv>()
    .get(`${PATH}/:id`, permit('viewer'), async (c) => {
      const type = contentType(c)
      const conditions = conditionsOf(c)
      const found = await documents.read(placeOf(c), conditions)
      if (!matchesNone(conditions, found.tag)) return c.body(null, 304, { ETag: `"${found.tag}"` })
      return answer(found, 200, type)
    })
    .put(`${PATH}/:id`, permit('operator'), async (c) => {
      const type = contentType(c)
      const text = await textBody(c, DOCUMENT_BYTES)
      return answer(await documents.replace(placeOf(c), text, conditionsOf(c)), 200, type)
    })
    .patch(`${PATH}/:id`, permit('operator'), async (c) => {
      const type = contentType(c)
      const text = await textBody(c, DOCUMENT_BYTES)
      return answer(await documents.patch(placeOf(c), text, conditionsOf(c)), 200, type)
    })
    .delete(`${PATH}/:id`, permit('operator'), async (c) => {
      const type = contentType(c)
      const deleted = await documents.delete(placeOf(c), conditionsOf(c))
      if (!prefersMinimal(c)) return answer(deleted, 200, type)
      return c.body(null, 204, MINIMAL)
    })
    .get(PATH, permit('viewer'), async (c) => {
      const type = contentType(c)
      const query = new URL(c.req.url).searchParams
      const limit = readLimit(query.get('limit'))
      const filter = filterOf(query)
      const after = query.get('after') ?? undefined
      const where = collectionOf(c)
      const later = prefersAsync(c)
      // The first part of an asynchronous one is a single batch: the job goes through the rest.
      const page = await documents.page(where, filter, after, limit, {
        ...(later ? { batches: 1 } : {}),
        reserve: (bytes) => reserve(c, bytes),
      })
      const tag = tagOf(page.documents)
      const [body, length] = partsBody(page.json)
      const headers: Record<string, string> = { ETag: `"${tag}"`, 'Content-Type': type }
      if (page.next !== undefined) headers.Link = linkToNext(c, query, page.next)
      if (later) {
        const { id } = await whole.begin(where, 'list', { filter })
        return c.body(body, 206, { ...headers, ...length, ...jobHeaders(c, id) })
      }
      if (!matchesNone(conditionsOf(c), tag)) return c.body(null, 304, headers)
      return c.body(body, 200, { ...headers, ...length })
    })
    .post(PATH, permit('operator'), async (c) => {
      const type = contentType(c)
      const where = collectionOf(c)
      const body = await readDocuments(c)
      const later = prefersAsync(c)
      if ('parts' in body) {
        const created = await documents.createMany(where, body.parts, later)
        if ('job' in created) return accepted(c, { id: created.job })
        const headers = { ETag: `"${tagOf(created.documents)}"`, 'Content-Type': type }
        return arrayResponse(created, headers)
      }
      const made = await documents.create(where, body.text)
      const location = `${pathOf(c)}/${encodeURIComponent(made.id)}`
      return answer(made, 201, type, { Location: location })
    })
    .route('/', wholeCollectionRoutes(PATH, { whole, permit, collectionOf, contentType }))
}

/** A body of up to so many bytes is read before it is looked at. */
const WHOLE = 64 * 1024

async function readDocuments(c: Context<AppEnv>): Promise<CreateBody> {
  requireJsonType(c)
  const length = c.req.header('Content-Length')
  if (length !== undefined && Number(length) <= WHOLE) return createBodyOf(await readBody(c, WHOLE))
  return readCreateBody(arrayChunks(c, BULK_BYTES))
}

/** Responds with the documents of an array; many are read and sent one after the other. */
function arrayResponse(
  { documents, bytes, bodies, release }: CreatedMany,
  headers: Record<string, string>,
): Response {
  if (Array.isArray(bodies)) return new Response(`[${bodies.join()}]`, { status: 201, headers })
  const length = bytes + Math.max(0, documents.length - 1) + '[]'.length
  const texts = commaSeparated(bodies)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await texts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, {
    status: 201,
    headers: { ...headers, 'Content-Length': String(length) },
  })
}

/** The text of an array, in pieces of about so many characters. */
const PIECE = 64 * 1024

async function* commaSeparated(bodies: CreatedMany['bodies']): AsyncGenerator<string> {
  let text = '['
  let separator = ''
  for await (const body of bodies) {
    text += separator + body
    separator = ','
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  yield `${text}]`
}

/** The content type of an answer, in the version that was asked for. */
export const contentType = (c: Asked): string =>
  `application/json; version=${acceptedVersion(c.req.header('Accept'))}`

/** What a request asks of the present state. */
export const conditionsOf = (c: Asked): Conditions =>
  readConditions(c.req.header('If-Match'), c.req.header('If-None-Match'))

// Not by `c.body`, which makes `Headers` of more than one: node-server writes a plain object as it is.
// What was set by `c.header` before would be missing; on these paths nothing is.
const answer = (
  { tag, body }: StoredDocument,
  status: 200 | 201,
  type: string,
  headers?: Record<string, string>,
): Response =>
  new Response(body, { status, headers: { ETag: `"${tag}"`, 'Content-Type': type, ...headers } })

/** The path as it was asked for, with the prefix that named the database. */
function pathOf(c: Context<AppEnv>): string {
  const { url } = c.req
  const begin = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(begin).search(/[?#]/)
  return url.slice(begin, end === -1 ? undefined : begin + end).replace(/\/$/, '')
}

function readLimit(text: string | null): number {
  if (text === null) return PAGE.usual
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= PAGE.most) return limit
  throw new Failure('bad-parameter', `limit is a whole number from 1 to ${PAGE.most}.`)
}

/** RFC 8288, for the page after this one. */
function linkToNext(c: Context<AppEnv>, query: URLSearchParams, after: string): string {
  const next = new URLSearchParams(query)
  next.set('after', after)
  return `<${pathOf(c)}?${next}>; rel="next"`
}

/** The tag of several documents together: of their ids and states. */
const tagOf = (documents: readonly Pick<StoredDocument, 'id' | 'tag'>[]): string =>
  createHash('sha256')
    .update(documents.map(({ id, tag }) => `${id}\n${tag}`).join('\n'))
    .digest('base64url')
    .slice(0, 22)
