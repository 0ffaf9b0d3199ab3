import { type Context, Hono } from 'hono'
import { DOCUMENT_BYTES } from '../../contract/document.ts'
import { parseStrictly } from '../../contract/json/strict-json.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import { callerIdOf, type RequireRole } from '../../http/guards/require-role.ts'
import { textBody } from '../../http/input/body/json-body.ts'
import { conditionsOf, requireNoConditions } from '../../http/input/headers.ts'
import { jobHeaders, MINIMAL, prefersAsync, prefersMinimal } from '../../http/input/prefer.ts'
import { searchParameters } from '../../http/input/url.ts'
import { described } from '../../http/openapi/describe.ts'
import { jsonHeaders } from '../../http/output/content-negotiation.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { collection } from '../describe-routes.ts'
import type { Filter } from '../query/filter.ts'
import { parseFilterQuery } from '../query/query.ts'
import type { CountedAudit } from '../record-end.ts'

/**
 * A request for all documents that match a filter. `patch` is the merge patch of a change, `after`
 * the id after which a listing begins.
 */
interface Request {
  readonly filter: Filter
  readonly patch?: string
  readonly after?: string | undefined
  /** Only for the deletion of a whole collection. */
  readonly audit?: CountedAudit | undefined
}

/** The query string: filters. */
type FilterInput = { in: { query: Record<string, string | string[]> } }

/** Operations on whole collections (`jobs/jobs.ts`). */
export interface WholeCollections {
  begin(
    where: CollectionRef,
    kind: 'patch' | 'delete' | 'list',
    request: Request,
    caller: string,
  ): Promise<{ readonly id: string }>
  /** Returns the number of changed documents, or a job that changes them. */
  change(
    where: CollectionRef,
    kind: 'patch' | 'delete',
    request: Request,
    caller: string,
    signal: AbortSignal,
  ): Promise<number | { readonly id: string }>
}

export interface WholeCollectionDeps {
  readonly collections: WholeCollections
  readonly requireRole: RequireRole
  readonly collectionOf: (c: Context<AppEnv>) => CollectionRef
}

/**
 * Returns the routes for `PATCH` and `DELETE` of `/<collection>`, which change every document that
 * matches the query, all or none if they are few enough for one transaction.
 */
export const wholeCollectionRoutes = <Path extends string>(
  path: Path,
  deps: WholeCollectionDeps,
) => {
  const { collections, requireRole, collectionOf } = deps
  return new Hono<AppEnv>()
    .patch(path, described<FilterInput>(collection.patch, requireRole('editor')), async (c) => {
      const headers = jsonHeaders(c)
      const patch = await textBody(c, DOCUMENT_BYTES)
      // After the body, because the database may be dropped while it arrives.
      const where = collectionOf(c)
      requirePatch(patch)
      requireNoConditions(conditionsOf(c), WHOLE_COLLECTION)
      const request = { filter: parseFilterQuery(searchParameters(c)), patch }
      if (prefersAsync(c))
        return acceptedResponse(c, await collections.begin(where, 'patch', request, callerIdOf(c)))
      const changed = await collections.change(
        where,
        'patch',
        request,
        callerIdOf(c),
        c.req.raw.signal,
      )
      if (typeof changed === 'object') return acceptedResponse(c, changed)
      return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json({ changed }, 200, headers)
    })
    .delete(path, described<FilterInput>(collection.delete, requireRole('editor')), async (c) => {
      const headers = jsonHeaders(c)
      const where = collectionOf(c)
      const filter = parseFilterQuery(searchParameters(c))
      const action = 'collection.delete'
      const request = { filter, ...(filter.length === 0 && { audit: auditOf(c, action) }) }
      requireNoConditions(conditionsOf(c), WHOLE_COLLECTION)
      if (prefersAsync(c))
        return acceptedResponse(c, await collections.begin(where, 'delete', request, callerIdOf(c)))
      const deleted = await collections.change(
        where,
        'delete',
        request,
        callerIdOf(c),
        c.req.raw.signal,
      )
      if (typeof deleted === 'object') return acceptedResponse(c, deleted)
      return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json({ deleted }, 200, headers)
    })
}

/** Returns what the audit log needs of a request that imports or deletes a collection. */
export const auditOf = (
  c: Context<AppEnv>,
  action: 'collection.import' | 'collection.delete',
): CountedAudit => ({
  actor: c.get('actor'),
  action,
  target: `${c.get('database')}/${c.req.param('collection')}`,
})

/** Returns the 202 of a job, with its location. */
export const acceptedResponse = (c: Context<AppEnv>, { id }: { readonly id: string }) =>
  c.json({ id, state: 'running' as const }, 202, jobHeaders(c, id))

const WHOLE_COLLECTION = 'a whole collection. Change single documents instead'

/** Rejects a patch that no document accepts. @throws Failure `invalid` */
function requirePatch(text: string): void {
  const patch = parseStrictly(text)
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw new Failure('invalid', 'A patch of a collection must be a JSON object.', { field: '' })
  }
  if (Object.hasOwn(patch, 'id')) {
    throw new Failure('invalid', 'A patch cannot change the id of documents.', { field: '/id' })
  }
}
