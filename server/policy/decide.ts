import { atLeast, type Role } from '../contract/access/principal.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { type Policy, sanEntry } from '../contract/endpoints/policy.ts'
import type { EndpointRules } from '../http/env.ts'
import { createRangeMatch, networkOf } from '../ip-ranges.ts'
import { createRateLimit } from '../rate-limit.ts'

/** A policy in the form in which requests are compared with it. */
export type CompiledPolicy = Policy & EndpointRules

/** Returns a policy as {@link CompiledPolicy}. Its addresses must be valid (`isIpRange`). */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const { allow, deny, anonymous = 'none', rateLimit, cors } = policy
  const isAllowed = allow && createRangeMatch(allow)
  const isDenied = deny && createRangeMatch(deny)
  const tokens = policy.tls?.clientAuth?.tokens
  const read = anonymous === 'none' ? [] : anonymous.read
  const limits = rateLimit && periodOf(rateLimit)
  const rate = limits && createRateLimit(limits)
  const isAllowedOrigin = (origin: string | undefined) =>
    origin !== undefined && (cors?.origins[0] === '*' || cors?.origins.includes(origin) === true)
  return {
    ...policy,
    clientTokens: tokens && new Map(tokens.map(({ san, token }) => [sanEntry(san), token])),
    admits: (client) =>
      client === null || ((isAllowed?.(client) ?? true) && !(isDenied?.(client) ?? false)),
    hides: (path) => policy.administration === false && kindOf(path) === 'administration',
    isPublic: (method, database, collection) =>
      database !== SYSTEM_DATABASE &&
      READS.has(method) &&
      (read === true || read.includes(collection)),
    isReadOnly: (method, path) => policy.readOnly === true && !READS.has(method) && isLimited(path),
    isLimited,
    consume: (client, caller) =>
      rateLimit && rate ? rate.consume(rateKey(rateLimit, client, caller)) : 0,
    ratePolicy: limits ? `"endpoint";q=${limits.max};w=${Math.ceil(limits.period / 1000)}` : '',
    corsHeaders(path, origin): Record<string, string> | undefined {
      if (cors === undefined || !isLimited(path)) return undefined
      if (origin === undefined || !isAllowedOrigin(origin)) return { vary: 'Origin' }
      return {
        'access-control-allow-origin': cors.origins[0] === '*' ? '*' : origin,
        'access-control-expose-headers': EXPOSED_HEADERS,
        vary: 'Origin',
      }
    },
    preflightHeaders(path, origin) {
      if (!isLimited(path) || !isAllowedOrigin(origin)) return undefined
      return {
        'access-control-allow-methods':
          policy.readOnly === true ? 'GET, HEAD' : 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': String(cors?.maxAge ?? DEFAULT_MAX_AGE),
      }
    },
  }
}

/** Response headers that pages of other origins may read. */
const EXPOSED_HEADERS = 'ETag, Link, Location, X-Total-Count, Retry-After'

/** Request headers that pages of other origins may send. */
const ALLOWED_HEADERS =
  'Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Prefer'

/** How long browsers may keep the answer to a preflight request, s. */
const DEFAULT_MAX_AGE = 600

/** Returns the number of requests that a policy allows in a period, and its length, ms. */
function periodOf({
  requestsPerSecond,
  burst = Math.max(1, Math.ceil(requestsPerSecond)),
}: NonNullable<Policy['rateLimit']>): { readonly max: number; readonly period: number } {
  return { max: burst, period: (burst / requestsPerSecond) * 1000 }
}

/**
 * What a path is for. `health` and `root` exist on every endpoint; `administration` is the console,
 * sign-in and the rest of `/_api`; everything else is `data`.
 */
type PathKind = 'health' | 'root' | 'administration' | 'data'

const ADMINISTRATION = /^\/(?:_api|_oauth2|_idp|_console)(?:\/|$)/
const HEALTH = /^\/(?:_api\/health|healthz)(?:\/|$)/

/** Returns what a path is for. The path has no `/_db/<name>` prefix. */
function kindOf(path: string): PathKind {
  if (path === '/') return 'root'
  if (!path.startsWith('/_') && !path.startsWith('/h')) return 'data'
  if (HEALTH.test(path)) return 'health'
  return ADMINISTRATION.test(path) ? 'administration' : 'data'
}

/** Returns the key whose requests a rate limit counts together. */
function rateKey(
  { by = 'client' }: NonNullable<Policy['rateLimit']>,
  client: string | null,
  /** The token, or the person with a session; undefined for an anonymous caller. */
  caller: string | undefined,
): string {
  if (by === 'endpoint') return ''
  if (by === 'token' && caller !== undefined) return caller
  return client === null ? 'unix' : networkOf(client)
}

/** Methods that only read (RFC 9110 §9.2.1). */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns whether `readOnly`, `rateLimit`, `cors` and `maxBodyBytes` apply to a path. */
function isLimited(path: string): boolean {
  const kind = kindOf(path)
  return kind === 'data' || kind === 'root'
}

/** The rules of an endpoint, in the order in which they are checked. */
export type Rule =
  | 'allow'
  | 'host'
  | 'database'
  | 'administration'
  | 'cors'
  | 'path'
  | 'method'
  | 'credential'
  | 'role'
  | 'readOnly'
  | 'rateLimit'

/** The status of the response that each rule gives. */
export const RULE_STATUS: Readonly<Record<Rule, number>> = {
  allow: 403,
  host: 421,
  database: 404,
  administration: 404,
  cors: 204,
  path: 404,
  method: 405,
  credential: 401,
  role: 403,
  readOnly: 403,
  rateLimit: 429,
}

/** A request as the rules of an endpoint see it. */
export interface PolicyRequest {
  readonly client: string | null
  readonly method: string
  /** Without the prefix `/_db/<name>`. */
  readonly path: string
  readonly database: string
  readonly origin?: string | undefined
  /** The method that a preflight request asks for. */
  readonly preflight?: string | undefined
  /** Whether the request names a host of this server, on a path for which this matters. */
  readonly isOwnHost: boolean
  /** Whether the endpoint serves the database and it exists. */
  readonly isServed: boolean
  readonly caller: 'anonymous' | 'invalid' | { readonly role: Role; readonly inScope: boolean }
  /** Whether there is a route for the request; otherwise, what does not fit. */
  readonly route: 'found' | 'path' | 'method'
  /** The role that the route requires; undefined if it admits everyone. */
  readonly needs: Role | undefined
  /** The collection whose documents a route reads, which may be public. */
  readonly collection: string | undefined
  /** Whether earlier requests have used up the rate. */
  readonly isOverRate: boolean
}

/**
 * Returns the rule that decides on a request: `cors` answers a preflight request, the others reject
 * it. Returns undefined if it is admitted.
 *
 * @param policy undefined for an endpoint without one.
 */
export function decide(
  policy: CompiledPolicy | undefined,
  request: PolicyRequest,
): Rule | undefined {
  const { method, path, origin, caller, needs } = request
  if (policy?.admits(request.client) === false) return 'allow'
  if (!request.isOwnHost) return 'host'
  if (!request.isServed) return 'database'
  if (policy?.hides(path)) return 'administration'
  const isPreflight = method === 'OPTIONS' && request.preflight !== undefined
  if (isPreflight && policy?.preflightHeaders(path, origin) !== undefined) return 'cors'
  if (request.route !== 'found') return request.route
  if (needs !== undefined) {
    if (caller === 'invalid') return 'credential'
    const { collection, database } = request
    const isPublic = collection !== undefined && policy?.isPublic(method, database, collection)
    if (!isPublic) {
      if (caller === 'anonymous') return 'credential'
      if (!atLeast(caller.role, needs) || !caller.inScope) return 'role'
    }
  }
  if (policy === undefined || !isLimited(path)) return undefined
  if (policy.isReadOnly(method, path)) return 'readOnly'
  return request.isOverRate ? 'rateLimit' : undefined
}
