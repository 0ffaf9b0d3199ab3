import { type Context, Hono } from 'hono'
import { type Conditions, matches, matchesNone } from '../contract/conditions.ts'
import { COLLECTION_PARAMETER, PAGE } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { callerIdOf, createReadAhead, type RequireRole } from '../http/guards/require-role.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { jobHeaders, prefersAsync, prefersCount } from '../http/input/prefer.ts'
import { createCollectionParam, searchParameters } from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import { jsonHeaders } from '../http/output/content-negotiation.ts'
import { nextLink } from '../http/output/next-link.ts'
import { partsBody } from '../http/output/parts-body.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { WholeCollections } from './collections/whole-collection-routes.ts'
import { skippedHeader } from './damage-log.ts'
import { collection } from './describe-routes.ts'
import { tagOfAll } from './document.ts'
import type { Documents, FoundPage } from './documents.ts'
import {
  type ExportCollectionDeps,
  exportCollection,
  exportFormatOf,
} from './export/export-routes.ts'
import type { Page } from './find/read-page.ts'
import { filterOf } from './query/filter.ts'
import {
  type DocumentQuery,
  isPlanned,
  parseDocumentQuery,
  requireOwnFilters,
} from './query/query.ts'

export interface ListingRoutesDeps extends ExportCollectionDeps {
  readonly documents: Documents
  readonly wholeCollections: WholeCollections
  readonly requireRole: RequireRole
  readonly reserve: Reserve
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/**
 * A page whose reading began before the caller was known: neither an export nor a job. A long query
 * waits for `permit`.
 */
interface PageAhead {
  readonly parameters: URLSearchParams
  readonly query: DocumentQuery
  readonly found: Promise<FoundPage>
  readonly permit: () => void
}

/** The query string of a listing: its parameters, and filters. */
type ListInput = { in: { query: Record<string, string | string[]> } }

/**
 * Returns the route that queries a collection: a page, an export, or a job
 * (docs/http-api.md, "Queries").
 */
export function listingRoutes({
  documents,
  wholeCollections,
  requireRole,
  reserve,
  idOf,
  ...exports
}: ListingRoutesDeps) {
  const collectionOf = createCollectionParam(idOf)
  /**
   * Starts a listing as a job. Returns the first batch with the job's location, or 304 without a job
   * if the client has that batch.
   */
  async function beginListing(
    c: Context<AppEnv>,
    where: CollectionRef,
    query: DocumentQuery,
  ): Promise<Response> {
    const { after, limit } = query
    const filter = filterOf(query.conditions)
    const bounds = {
      batches: 1,
      reserve: (bytes: number) => reserve(c, bytes),
      signal: c.req.raw.signal,
    }
    const page = await documents.readInIdOrder(where, filter, after, limit, bounds)
    requireOwnFiltersIfEmpty(query, page)
    const tag = tagOf(page)
    const conditions = conditionsOf(c)
    requireMatch(conditions, tag)
    const headers: Record<string, string> = {
      ETag: `"${tag}"`,
      ...jsonHeaders(c),
    }
    if (page.next !== undefined) headers.Link = nextLink(c, ['after', page.next.id])
    if (!matchesNone(conditions, tag)) return c.body(null, 304, headers)
    const { id } = await wholeCollections.begin(where, 'list', { filter, after }, callerIdOf(c))
    const [body, length] = partsBody(page.json)
    return c.body(body, 206, { ...headers, ...length, ...jobHeaders(c, id) })
  }
  const find = (
    c: Context<AppEnv>,
    where: CollectionRef,
    query: DocumentQuery,
    permission?: Promise<void>,
  ) =>
    documents.find(where, query, {
      count: prefersCount(c),
      reserve: (bytes) => permission?.then(() => reserve(c, bytes)) ?? reserve(c, bytes),
      signal: () => c.req.raw.signal,
      permission,
    })
  const pageAhead = createReadAhead((c): PageAhead | undefined => {
    const parameters = searchParameters(c)
    if (prefersAsync(c) || exportFormatOf(c, parameters) !== undefined) return undefined
    const query = parseDocumentQuery(parameters)
    if (query.limit > PAGE.default) return undefined
    const { promise, resolve: permit } = Promise.withResolvers<void>()
    const found = Promise.resolve(find(c, collectionOf(c), query, promise))
    // The handler awaits it, unless the caller has no permission.
    found.catch(() => {})
    return { parameters, query, found, permit }
  })
  const viewerLists = requireRole('viewer', { documents: true, readAhead: pageAhead.begin })
  return new Hono<AppEnv>().get(PATH, described<ListInput>(collection.get, viewerLists), (c) => {
    const json = jsonHeaders(c)
    const where = collectionOf(c)
    const ahead = pageAhead.take(c)
    const parameters = ahead?.parameters ?? searchParameters(c)
    const format = ahead === undefined ? exportFormatOf(c, parameters) : undefined
    if (format !== undefined) return exportCollection(c, where, format, parameters, exports)
    const conditions = conditionsOf(c)
    const query = ahead?.query ?? parseDocumentQuery(parameters)
    // A caller without a credential could not read the job.
    const isKnown = c.get('principal') !== undefined
    if (ahead === undefined && isKnown && prefersAsync(c) && isListable(query)) {
      return beginListing(c, where, query)
    }
    const respond = (page: FoundPage): Response => {
      requireOwnFiltersIfEmpty(query, page)
      const tag = tagOf(page)
      requireMatch(conditions, tag)
      const plan = pageHeaders(query, page)
      const headers: Record<string, string> = {
        ...plan,
        ETag: `"${tag}"`,
        ...json,
      }
      if (page.nextParameter !== undefined) {
        headers.Link = nextLink(c, page.nextParameter, parameters)
      }
      if (!matchesNone(conditions, tag)) return c.body(null, 304, headers)
      const [body, length] = partsBody(page.json)
      return new Response(body, { status: 200, headers: { ...headers, ...length } })
    }
    ahead?.permit()
    const found = ahead?.found ?? find(c, where, query)
    return found instanceof Promise ? found.then<Response>(respond) : respond(found)
  })
}

/** Returns whether a job can list a query: whole documents in the order of their ids. */
const isListable = ({ sort, fields, cursor }: DocumentQuery): boolean =>
  sort.length === 0 && fields === undefined && cursor === undefined

function requireOwnFiltersIfEmpty(
  { after, cursor, conditions }: DocumentQuery,
  { returned, next }: Pick<Page, 'returned' | 'next'>,
): void {
  const isEmpty = returned === 0 && next === undefined && after === undefined
  if (isEmpty && cursor === undefined) requireOwnFilters(conditions)
}

/** Returns what a query read and, if requested, the count, as headers. */
function pageHeaders(query: DocumentQuery, page: FoundPage): Record<string, string> {
  const headers: Record<string, string> = skippedHeader(page.skipped)
  if (page.total !== undefined) {
    headers['Preference-Applied'] = 'count=exact'
    headers['X-Total-Count'] = String(page.total)
  }
  if (isPlanned(query)) {
    const access = page.index === undefined ? 'scan' : `index=${page.index}`
    headers['Query-Plan'] = `${access}; scanned=${page.scanned}; returned=${page.returned}`
  }
  return headers
}

/**
 * Checks `If-Match` for a page (RFC 9110 §13.1.1).
 *
 * @throws Failure `precondition-failed`
 */
function requireMatch(conditions: Conditions, tag: string): void {
  if (matches(conditions, tag)) return
  throw new Failure(
    'precondition-failed',
    'The documents have changed, or do not match the precondition of the request.',
  )
}

/** Returns the tag of a page. */
const tagOf = ({ tags, total }: Pick<Page, 'tags'> & { readonly total?: number }): string =>
  tagOfAll(total === undefined ? tags : `${tags}\n${total}`)
