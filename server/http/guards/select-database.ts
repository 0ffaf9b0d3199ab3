import { createMiddleware } from 'hono/factory'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import { databaseNotFound, Failure } from '../../failure.ts'
import type { AppEnv, ListenerContext } from '../env.ts'
import { type RequestPath, splitRequestPath } from '../input/url.ts'

/** Paths that use the system database, regardless of the default database of the endpoint. */
const SYSTEM_ANYWHERE = /^\/(?:_console|_oauth2|_idp)(?:\/|$)/
const SYSTEM_ONLY = /^\/_api(?:\/|$)/
const ANY_DATABASE = /^\/_api\/health(?:\/|$)/

/** Methods whose body may arrive after the head of the request. */
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * Checks that an endpoint exposes a database and that the database exists. Both failures give the
 * same error, so that a client cannot find out which databases exist.
 *
 * @throws Failure `database-not-found`
 */
export function requireReachable(
  { names }: ListenerContext['mapping'],
  database: string,
  exists: (name: string) => boolean,
): void {
  if (includesDatabase(names, database) && exists(database)) return
  throw databaseNotFound()
}

/** Returns the database that a request addresses. */
export const databaseOf = (
  { path, database }: RequestPath,
  mapping: Pick<ListenerContext['mapping'], 'defaultDatabase'>,
): string => {
  if (database !== undefined) return database
  // Paths of data need no further test.
  const isAnywhere = path.startsWith('/_') && SYSTEM_ANYWHERE.test(path)
  return isAnywhere ? SYSTEM_DATABASE : mapping.defaultDatabase
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * Selects the database of a request and checks that the endpoint exposes it.
 *
 * Fails with `database-not-found`, with `system-only` for administration in another database, or
 * with `bad-parameter` for a path that no store can represent.
 *
 * @param idOf returns the id of an existing database.
 */
export const selectDatabase = (
  exists: (name: string) => boolean,
  idOf: (database: string) => string,
) =>
  createMiddleware<AppEnv>((c, next) => {
    const { mapping, policy } = c.env.listener
    const split = splitRequestPath(c.req.raw)
    const { path } = split
    // Paths of data need no further tests.
    const isSystem = path.startsWith('/_')
    const isAnywhere = isSystem && SYSTEM_ANYWHERE.test(path)
    const database = databaseOf(split, mapping)
    requireReachable(mapping, database, exists)
    if (policy?.hides(path)) {
      throw new Failure('not-found', 'There is no such path.', { rule: 'administration' })
    }
    // Under `/_api`, the route responds with 404.
    if (path.includes('%') && !SYSTEM_ONLY.test(path) && !isDecodable(path)) {
      throw new Failure('bad-parameter', 'The path is not percent-encoded UTF-8.')
    }
    // PostgreSQL cannot store it, so no resource has such a path.
    if (path.includes('\0')) {
      throw new Failure('bad-parameter', 'The path contains the character U+0000.')
    }
    if (isSystem && database !== SYSTEM_DATABASE) {
      if (SYSTEM_ONLY.test(path) && !ANY_DATABASE.test(path)) {
        throw new Failure('system-only', 'This path is available only in the database _system.')
      }
      if (isAnywhere) throw new Failure('not-found', 'There is no such path.')
    }
    c.set('database', database)
    if (BODY_METHODS.has(c.req.method)) {
      const id = idOf(database)
      c.set('requireSameDatabase', () => {
        if (idOf(database) !== id) throw databaseNotFound()
      })
    }
    return next()
  })
