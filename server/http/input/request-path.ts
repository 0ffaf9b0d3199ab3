import { getPath as honoPath } from 'hono/utils/url'

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
  const name = path.slice(PREFIX.length, end === -1 ? undefined : end)
  return { path: end === -1 ? '/' : withoutSlash(path.slice(end)), database: decoded(name) }
}

/** Removes one trailing slash from a path under `/_api`. */
const withoutSlash = (path: string) =>
  path.startsWith('/_api/') && path.length > 6 && path.endsWith('/') ? path.slice(0, -1) : path

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    // Malformed escapes match no database: no name contains a percent sign.
    return name
  }
}
