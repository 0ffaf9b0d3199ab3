import { getPath as honoPath } from 'hono/utils/url'

const PREFIX = '/_db/'

/** A request's path, and the database that it names by `/_db/<name>/`, if it does. */
export interface RequestPath {
  /** What is routed: the prefix is stripped, and it begins with a slash. */
  readonly path: string
  /** The name as it was sent, decoded. */
  readonly database: string | undefined
}

const SPLIT = Symbol('split')

/** Takes the database prefix off a request's path (design, "The URL space"). Never throws. */
export function splitRequestPath(request: Request & { [SPLIT]?: RequestPath }): RequestPath {
  // Kept with the request: the router asks, and then each middleware that goes by the path.
  request[SPLIT] ??= split(honoPath(request))
  return request[SPLIT]
}

function split(path: string): RequestPath {
  if (!path.startsWith(PREFIX)) return { path: withoutSlash(path), database: undefined }
  const end = path.indexOf('/', PREFIX.length)
  const name = path.slice(PREFIX.length, end === -1 ? undefined : end)
  return { path: end === -1 ? '/' : withoutSlash(path.slice(end)), database: decoded(name) }
}

/** Under `/_api`, a path with one trailing slash is the same path. */
const withoutSlash = (path: string) =>
  path.startsWith('/_api/') && path.length > 6 && path.endsWith('/') ? path.slice(0, -1) : path

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    // Then it names no database: none has a percent sign in its name.
    return name
  }
}
