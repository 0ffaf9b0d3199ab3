import { type Context, Hono } from 'hono'
import { DOCUMENT_BYTES, FILTER_FIELDS, UNSUPPORTED_PARAMETERS } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import { jobHeaders, MINIMAL, prefersAsync, prefersMinimal } from '../http/prefer.ts'
import { textBody } from '../http/text-body.ts'
import type { Collection, Filter } from './documents.ts'
import { readConditions } from './entity-tag.ts'
import { parseStrictly } from './strict-json.ts'

/** What is asked of many documents: of those that fit, with a merge patch where they change. */
interface Request {
  readonly filter: Filter
  readonly patch?: string
}

/** Work on whole collections, as the routes need it (`jobs/jobs.ts`). */
export interface WholeCollections {
  begin(
    where: Collection,
    kind: 'patch' | 'delete' | 'list',
    request: Request,
  ): Promise<{ readonly id: string }>
  run(where: Collection, kind: 'patch' | 'delete', request: Request): Promise<number>
}

/** What the routes of whole collections are made of. */
export interface WholeCollectionDeps {
  readonly whole: WholeCollections
  readonly permit: Permit
  readonly collectionOf: (c: Context<AppEnv>) => Collection
  /** The content type of an answer, in the version that was asked for. */
  readonly contentType: (c: Context<AppEnv>) => string
}

/** `PATCH` and `DELETE` of `/<collection>`: of every document that fits the query, all or none. */
export const wholeCollectionRoutes = (path: string, deps: WholeCollectionDeps) => {
  const { whole, permit, collectionOf, contentType } = deps
  return new Hono<AppEnv>()
    .patch(path, permit('operator'), async (c) => {
      const headers = { 'Content-Type': contentType(c) }
      const where = collectionOf(c)
      const patch = await textBody(c, DOCUMENT_BYTES)
      requirePatch(patch)
      requireNoConditions(c)
      const request = { filter: wholeFilterOf(c), patch }
      if (prefersAsync(c)) return accepted(c, await whole.begin(where, 'patch', request))
      const changed = await whole.run(where, 'patch', request)
      return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json({ changed }, 200, headers)
    })
    .delete(path, permit('operator'), async (c) => {
      const headers = { 'Content-Type': contentType(c) }
      const where = collectionOf(c)
      const request = { filter: wholeFilterOf(c) }
      requireNoConditions(c)
      if (prefersAsync(c)) return accepted(c, await whole.begin(where, 'delete', request))
      const deleted = await whole.run(where, 'delete', request)
      return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json({ deleted }, 200, headers)
    })
}

/** The answer to what a job does: where to ask how far it is. */
export const accepted = (c: Context<AppEnv>, { id }: { readonly id: string }): Response =>
  c.json({ id, state: 'running' }, 202, jobHeaders(c, id))

/**
 * Returns the filter of a query: every parameter but `limit` and `after`.
 *
 * @throws Failure `bad-parameter` naming a parameter that is not supported, or where there are more
 * than {@link FILTER_FIELDS} filters.
 */
export function filterOf(query: URLSearchParams): Filter {
  const filter = [...query].filter(([name]) => name !== 'limit' && name !== 'after')
  for (const [name] of filter) {
    if (!name.startsWith('_') && !UNSUPPORTED_PARAMETERS.includes(name)) continue
    throw new Failure(
      'bad-parameter',
      `The parameter ${JSON.stringify(name.slice(0, 64))} is not supported. Supported are limit, after, ` +
        'and filters that compare a field with a value, such as author=ada.',
    )
  }
  if (filter.length <= FILTER_FIELDS) return filter
  throw new Failure(
    'bad-parameter',
    `The filter names ${filter.length} fields, at most ${FILTER_FIELDS}.`,
  )
}

/** Whoever names a page means to change no more than that: it must not be every document. */
function wholeFilterOf(c: Context<AppEnv>): Filter {
  const query = new URL(c.req.url).searchParams
  for (const name of ['limit', 'after']) {
    if (!query.has(name)) continue
    throw new Failure(
      'bad-parameter',
      `There are no pages of what is changed or deleted: leave ${name} out. Nothing was changed.`,
    )
  }
  return filterOf(query)
}

/** The tag of a page says nothing of the rest: who asks for a state gets 412 and loses nothing. */
function requireNoConditions(c: Context<AppEnv>): void {
  const { match, noneMatch } = readConditions(
    c.req.header('If-Match'),
    c.req.header('If-None-Match'),
  )
  if ((match === undefined || match === '*') && noneMatch === undefined) return
  throw new Failure(
    'precondition-failed',
    'The state of a whole collection cannot be asked for; that of single documents can.',
  )
}

/** Fails with `invalid` where a patch can be applied to no document. */
function requirePatch(text: string): void {
  const patch = parseStrictly(text)
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw new Failure('invalid', 'A patch of a collection is a JSON object.')
  }
  if (Object.hasOwn(patch, 'id')) {
    throw new Failure('invalid', 'A patch cannot change the id of documents.')
  }
}
