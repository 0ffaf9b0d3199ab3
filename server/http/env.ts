import type { HttpBindings } from '@hono/node-server'
import type { Actor } from '../contract/audit.ts'
import type { AuditAction } from '../contract/audit-action.ts'
import type { Principal } from '../contract/principal.ts'

/** The endpoint that a request came through, as routes may know it. */
export interface Via {
  /** The address of the endpoint, canonical. */
  readonly name: string
  /** Whether the connection is encrypted by us. */
  readonly address: { readonly scheme: 'tcp' | 'ssl' | 'unix' }
  /** The endpoint's databases, in order; empty: all. Another object after each remapping. */
  readonly mapping: { readonly names: readonly string[]; readonly defaultDatabase: string }
  /** Aborted when the endpoint is removed or the node stops: streams without end must end then. */
  readonly draining: AbortSignal
}

/** A request as checks look at it: a route's `Context`, or one that is answered without. */
export interface Asked {
  readonly env: AppEnv['Bindings']
  readonly req: {
    readonly method: string
    header(name: string): string | undefined
  }
}

/** What a request asks to be changed, as its route declares it. */
export interface AuditedChange {
  readonly action: AuditAction
  readonly target: () => string
}

/** What every route of the application has at hand. */
export interface AppEnv {
  Bindings: Partial<HttpBindings> & { readonly via: Via }
  Variables: {
    /** The database that the request is for. */
    database: string
    /** Who is signed in; only where a `permit` stands before (http/permit.ts). */
    principal: Principal | undefined
    /** As the audit log names whoever asks; where somebody does. */
    actor: Actor
    /** What the route is about to change, for the audit log (http/audited.ts). */
    change: AuditedChange | undefined
  }
}
