import { createMiddleware } from 'hono/factory'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import type { AppEnv, Via } from './env.ts'
import { splitRequestPath } from './request-path.ts'

/** Belongs to the system database whatever the default of the endpoint is. */
const SYSTEM_ANYWHERE = /^\/(?:_console|_oauth2|_idp)(?:\/|$)/
const SYSTEM_ONLY = /^\/_api(?:\/|$)/
const ANY_DATABASE = /^\/_api\/health(?:\/|$)/

/**
 * Refuses a database that an endpoint does not let through, and one that does not exist, alike: a
 * client cannot find out what it may not reach.
 *
 * @throws Failure `database-not-found`
 */
export function requireReachable(
  { names }: Via['mapping'],
  database: string,
  exists: (name: string) => boolean,
): void {
  if ((names.length === 0 || names.includes(database)) && exists(database)) return
  throw new Failure('database-not-found', 'database not found')
}

/**
 * Decides which database a request is for, and whether the endpoint it came through lets it there.
 *
 * Fails with `database-not-found`, or `system-only` for administration asked of another database.
 */
export const selectDatabase = (exists: (name: string) => boolean) =>
  createMiddleware<AppEnv>((c, next) => {
    const { mapping } = c.env.via
    const { path, database: named } = splitRequestPath(c.req.raw)
    const database =
      named ?? (SYSTEM_ANYWHERE.test(path) ? SYSTEM_DATABASE : mapping.defaultDatabase)
    requireReachable(mapping, database, exists)
    if (database !== SYSTEM_DATABASE) {
      if (SYSTEM_ONLY.test(path) && !ANY_DATABASE.test(path)) {
        throw new Failure('system-only', 'This is allowed in the database _system only.')
      }
      if (SYSTEM_ANYWHERE.test(path)) throw new Failure('not-found', 'There is no such path.')
    }
    c.set('database', database)
    return next()
  })
