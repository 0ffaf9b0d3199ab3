import type { Access } from '../access/access.ts'
import { atLeast, type Principal } from '../contract/access/principal.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../contract/database.ts'
import { type RequestFilter, toRequestFilter } from '../contract/endpoints/request.ts'
import { Failure } from '../failure.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import type { EventHub } from './hub.ts'
import {
  type AuthenticateReader,
  createSendStream,
  eventRoutes,
  lastEventHeader,
  type PartsOf,
} from './routes.ts'
import type { StreamPart } from './stream-part.ts'

export interface EventsModuleDeps {
  readonly hub: EventHub
  readonly access: Pick<Access, 'authenticate' | 'lastKnown'>
  readonly http: Pick<HttpModule, 'clientOf' | 'cookie'>
  readonly requireRole: RequireRole
  /** Follows the requests of this node. */
  readonly watchRequests: (filter: RequestFilter, reader: Principal) => StreamPart
  /**
   * Follows a feed, named `<database>/<collection>`, while its reader may read the database.
   *
   * @param isServed returns whether the endpoint serves a database.
   */
  readonly watchFeed: (name: string, isServed: (database: string) => boolean) => StreamPart
}

/** Creates the routes of the event streams. */
export function createEventsModule(deps: EventsModuleDeps) {
  const { hub, access, requireRole, watchRequests, watchFeed } = deps
  const { clientOf, cookie } = deps.http
  const sharedLookup = createSharedLookup<Principal | undefined>(hub, Date.now)

  async function ownerOf(credentials: Parameters<Access['authenticate']>[0]) {
    try {
      return await access.authenticate(credentials)
    } catch (error) {
      const isUnavailable = error instanceof Failure && error.code === 'unavailable'
      return isUnavailable ? access.lastKnown(credentials) : undefined
    }
  }
  const authenticateReader: AuthenticateReader = async (c) => {
    // Streams call this repeatedly; the mapping of their endpoint may have changed since they
    // began.
    const { names } = c.env.listener.mapping
    if (!includesDatabase(names, SYSTEM_DATABASE)) return undefined
    const authorization = c.req.header('Authorization')
    const session = cookie.read(c, clientOf(c).secure)
    const principal = await sharedLookup(JSON.stringify([authorization, session]), () =>
      ownerOf({ authorization, session, background: true }),
    )
    return principal !== undefined && atLeast(principal.role, 'viewer') ? principal : undefined
  }

  const partsOf: PartsOf = (c, { requests, feed = [], ...filter }) => {
    const { listener } = c.env
    const isServed = (database: string) => includesDatabase(listener.mapping.names, database)
    const feeds = feed.map((name) => watchFeed(name, isServed))
    if (requests === undefined) return feeds
    const endpoint = requests.includes('*') ? undefined : requests
    return [watchRequests(toRequestFilter({ ...filter, endpoint }), principalOf(c)), ...feeds]
  }
  return {
    routes: eventRoutes(hub, requireRole, createSendStream(hub, authenticateReader), partsOf),
    lastEventHeader: lastEventHeader(hub),
    async [Symbol.asyncDispose]() {},
  }
}

export type EventsModule = ReturnType<typeof createEventsModule>

/** Maximum age of a shared result, ms: credentials expire without an event. */
const MAX_AGE = 1_000

/** Looks up a key, or shares the result of a lookup that began after the last wake. */
type SharedLookup<T> = (key: string, lookUp: () => Promise<T>) => Promise<T>

/**
 * Returns a {@link SharedLookup}. An event wakes all streams at once; streams with the same
 * credentials share one authentication.
 *
 * @param now the time, ms.
 */
export function createSharedLookup<T>(
  hub: Pick<EventHub, 'wakes'>,
  now: () => number,
): SharedLookup<T> {
  let results = new Map<string, Promise<T>>()
  let wakes = -1
  let since = 0
  return (key, lookUp) => {
    if (wakes !== hub.wakes || now() - since >= MAX_AGE) {
      results = new Map()
      wakes = hub.wakes
      since = now()
    }
    const shared = results.get(key)
    if (shared !== undefined) return shared
    const result = lookUp()
    results.set(key, result)
    return result
  }
}
