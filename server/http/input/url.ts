import type { Context } from 'hono'
import { getPath as honoPath } from 'hono/utils/url'
import { COLLECTION_NAME_RULE, isCollectionName, RESERVED_NAMES } from '../../contract/document.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'

const PREFIX = '/_db/'

/** A request's path, and the database that a `/_db/<name>/` prefix names. */
export interface RequestPath {
  /** The path to route, without the prefix; it begins with a slash. */
  readonly path: string
  /** The name as it was sent, percent-decoded. */
  readonly database: string | undefined
}

const SPLIT = Symbol('split')

/** Removes the database prefix from a path (docs/http-api.md, "URL space"). Never throws. */
export function splitRequestPath(request: Request & { [SPLIT]?: RequestPath }): RequestPath {
  // Cached on the request: the router reads it, then each middleware that depends on the path.
  request[SPLIT] ??= split(honoPath(request))
  return request[SPLIT]
}

function split(path: string): RequestPath {
  if (!path.startsWith(PREFIX)) return { path: withoutSlash(path), database: undefined }
  const end = path.indexOf('/', PREFIX.length)
  // Malformed escapes match no database: no name contains a percent sign.
  const name = path.slice(PREFIX.length, end === -1 ? undefined : end)
  return { path: end === -1 ? '/' : withoutSlash(path.slice(end)), database: decoded(name) ?? name }
}

/** Removes one trailing slash from a path under `/_api`. */
const withoutSlash = (path: string) =>
  path.startsWith('/_api/') && path.length > 6 && path.endsWith('/') ? path.slice(0, -1) : path

/** Returns a parameter of the route's path, for code that several routes share. */
export function pathParam(c: Context<AppEnv>, name: string): string {
  const value = c.req.param(name)
  invariant(value !== undefined, `the path of the route has the parameter ${name}`)
  return value
}

/**
 * Creates a reader of the collection in a request's path.
 *
 * @param idOf returns the id of an existing database.
 * @throws Failure `not-found`
 */
export const createCollectionParam =
  (idOf: (database: string) => string) =>
  (c: Context<AppEnv>): { readonly database: string; readonly collection: string } => {
    const collection = pathParam(c, 'collection')
    if (!isCollectionName(collection)) throw notCollectionName(collection)
    return { database: idOf(c.get('database')), collection }
  }

/**
 * Returns the address in the path of a request.
 *
 * @throws Failure `bad-parameter` if the query also has one.
 */
export function pathAddress(c: Context<AppEnv>): string {
  if (c.req.query('endpoint') === undefined) return pathParam(c, 'address')
  throw new Failure(
    'bad-parameter',
    'The address is given both in the path and as endpoint. Send one of them.',
    { field: 'endpoint' },
  )
}

/** Returns the failure of a path with a name that no collection can have. */
export function notCollectionName(name: string): Failure {
  const shown = JSON.stringify(name.slice(0, 64))
  return new Failure(
    'not-found',
    RESERVED_NAMES.includes(name)
      ? `${shown} is reserved and cannot be the name of a collection.`
      : `${shown} is not a valid collection name. ${COLLECTION_NAME_RULE}`,
  )
}

/**
 * Returns the parameters of a request. Parsing its whole URL would take longer.
 *
 * @throws Failure `bad-parameter` for a parameter that is not percent-encoded UTF-8.
 */
export function searchParameters(c: Context<AppEnv>): URLSearchParams {
  const { url } = c.req
  const begin = url.indexOf('?')
  if (begin === -1) return new URLSearchParams()
  const end = url.indexOf('#', begin)
  const query = url.slice(begin + 1, end === -1 ? undefined : end)
  // `URLSearchParams` replaces what it cannot decode.
  if (query.includes('%')) requireEncoded(query)
  return new URLSearchParams(query)
}

/**
 * Rejects query parameters, which would have no effect.
 *
 * @param what the request, as the subject of the message.
 * @param except the name of a parameter that the request can have.
 * @throws Failure `bad-parameter`
 */
export function requireNoParameters(c: Context<AppEnv>, what: string, except?: string): void {
  if (!c.req.url.includes('?')) return
  const name = searchParameters(c)
    .keys()
    .find((each) => each !== except)
  if (name === undefined) return
  throw new Failure(
    'bad-parameter',
    `${what} has no parameter ${JSON.stringify(name.slice(0, 64))}.`,
    { field: name },
  )
}

function requireEncoded(query: string): void {
  for (const parameter of query.split('&')) {
    if (decoded(parameter) !== undefined) continue
    const [name = ''] = parameter.split('=', 1)
    const field = decoded(name.replaceAll('+', ' ')) ?? name
    throw new Failure(
      'bad-parameter',
      `The parameter ${JSON.stringify(field.slice(0, 64))} is not percent-encoded UTF-8.`,
      { field },
    )
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
