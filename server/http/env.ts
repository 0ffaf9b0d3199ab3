import type { Socket } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Principal } from '../contract/access/principal.ts'
import type { Actor } from '../contract/audit.ts'
import type { AuditAction } from '../contract/audit-action.ts'

/** The rules of an endpoint's policy, as guards ask for them (`policy/decide.ts`). */
export interface EndpointRules {
  readonly maxBodyBytes?: number | undefined
  /** The ids of the tokens that client certificates stand for, by a name in the certificate. */
  readonly clientTokens?: ReadonlyMap<string, string> | undefined
  /** Returns whether clients at an address may use the endpoint; null is one without an address. */
  admits(client: string | null): boolean
  /** Returns whether a path does not exist here, because it belongs to the administration. */
  hides(path: string): boolean
  /** Returns whether everyone may read a collection. */
  isPublic(method: string, database: string, collection: string): boolean
  /** Returns whether a request would change something that can only be read here. */
  isReadOnly(method: string, path: string): boolean
  /** Returns whether `readOnly`, `rateLimit` and `maxBodyBytes` apply to a path. */
  isLimited(path: string): boolean
  /** Counts a request. Returns 0, or the time after which another one is allowed, ms. */
  consume(client: string | null, caller: string | undefined): number
  /** The rate limit as the header field `RateLimit-Policy` names it. */
  readonly ratePolicy: string
  /** Returns the headers of each response that pages of an origin may read. */
  corsHeaders(
    path: string,
    origin: string | undefined,
  ): Readonly<Record<string, string>> | undefined
  /** Returns the further headers of a response to a preflight request; undefined if it gets none. */
  preflightHeaders(
    path: string,
    origin: string | undefined,
  ): Readonly<Record<string, string>> | undefined
}

/** The part of an endpoint that routes can read. */
export interface ListenerContext {
  /** The canonical address of the endpoint. */
  readonly name: string
  /** `ssl` means that this server terminates TLS. */
  readonly address: { readonly scheme: 'tcp' | 'ssl' | 'unix' }
  /**
   * The endpoint's databases, in order; an empty list means all. Replaced by a new object when the
   * mapping changes.
   */
  readonly mapping: { readonly names: readonly string[]; readonly defaultDatabase: string }
  /** Undefined without a policy. Replaced by a new object when the policy changes. */
  readonly policy?: EndpointRules | undefined
  /** Returns the names in the verified client certificate of a connection, as Node.js lists them. */
  clientNames?(socket: Socket): string | undefined
  /** Aborted when the endpoint is removed or the node stops. Endless streams must end then. */
  readonly draining: AbortSignal
  /** Counts a request as rejected although its status does not imply it. */
  countRejected?(): void
}

/** The part of a `Context` that guards read. */
export interface RequestView {
  readonly env: AppEnv['Bindings']
  readonly req: {
    readonly method: string
    header(name: string): string | undefined
  }
}

/** The change that a request asks for, as its route declares it. */
export interface AuditedChange {
  readonly action: AuditAction
  readonly target: () => string
}

export interface AppEnv {
  Bindings: Partial<HttpBindings> & { readonly listener: ListenerContext }
  Variables: {
    /** The database that the request addresses. */
    database: string
    /** The authenticated caller. Set only behind `requireRole` (guards/require-role.ts). */
    principal: Principal | undefined
    /** The caller as the audit log names it. Set only for an authenticated caller. */
    actor: Actor
    /**
     * Authorizes the caller again, for a body that arrives after the request was authorized, and for
     * a response that is sent for longer than a second. Set by `requireRole`. Throws if the
     * credentials have expired or were revoked.
     */
    authorizeAgain: ((c: Context<AppEnv>) => Promise<void>) | undefined
    /**
     * Checks that the database of the request is still the same, for a body that arrives later. Set
     * by `selectDatabase` for methods with a body. Throws if it was dropped, even if there is a new
     * one with its name.
     */
    requireSameDatabase: (() => void) | undefined
    /** The change that the route is about to make (`guards/audit-change.ts`). */
    change: AuditedChange | undefined
    /** What the route began to read before the caller was known (`createReadAhead`). */
    readAhead: unknown
  }
}
