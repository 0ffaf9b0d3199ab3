import type { Context, Handler, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AuditEntry } from '../../contract/audit.ts'
import type { AuditAction } from '../../contract/audit-action.ts'
import { Failure } from '../../failure.ts'
import type { RateLimit } from '../../rate-limit.ts'
import type { AppEnv, AuditedChange } from '../env.ts'

const ACTION = Symbol('action')

/**
 * Declares the audited action of a route, which {@link recordRejections} records with a rejection.
 * Place it before the route's `requireRole`, so that rejections by role are recorded too.
 * `app.test.ts` fails for a changing route without one.
 *
 * @param target returns the target of the change as the log names it. Called only after a
 * rejection, possibly before the body is read.
 * @example
 * .delete('/:name', describe({ … }), audited('database.drop', (c) => c.req.param('name')), …)
 */
export function audited(
  action: AuditAction,
  target: (c: Context<AppEnv, string, AnyJson>) => string | undefined,
): MiddlewareHandler<AppEnv> {
  const middleware = createMiddleware<AppEnv>(async (c, next) => {
    c.set('change', {
      action,
      target: () => target(c as unknown as Context<AppEnv, string, AnyJson>) ?? '',
    })
    await next()
  })
  return Object.assign(middleware, { [ACTION]: action })
}

/** A body of unknown shape; undefined until it is read. */
interface AnyJson {
  // biome-ignore lint/suspicious/noExplicitAny: the schema of each route defines the body
  out: { json: any }
}

/** Returns the action that a handler declares, or undefined if it is not an {@link audited}. */
export const actionOf = (handler: Handler | MiddlewareHandler): AuditAction | undefined =>
  (handler as { [ACTION]?: AuditAction })[ACTION]

export interface RejectionDeps {
  readonly record: (entry: AuditEntry) => Promise<void>
  /**
   * Called for a rejected anonymous change. These are counted instead of recorded, because anyone
   * could fill the disk with them.
   */
  readonly countAnonymous: () => void
  /** Limits the recorded rejections per person. */
  readonly limit: Pick<RateLimit, 'consume'>
  /** Called after a change or a rejection is recorded. */
  readonly onRecorded: () => void
  /** Called when recording a rejection fails. The response does not change. */
  readonly onError: (error: unknown) => void
}

/** Statuses of a well-formed change that was rejected. */
const REJECTED_STATUSES = new Set([401, 403, 409, 412])

/**
 * Records every rejected change of an authenticated caller before the response is sent, up to the
 * rate limit.
 */
export const recordRejections = ({
  record,
  countAnonymous,
  limit,
  onRecorded,
  onError,
}: RejectionDeps) =>
  createMiddleware<AppEnv>(async (c, next) => {
    await next()
    const change: AuditedChange | undefined = c.get('change')
    const failure = c.error
    if (change === undefined) return
    const { actor } = c.var as Partial<typeof c.var>
    if (failure === undefined) {
      // An anonymous request makes no change, for example a sign-out without a session. Reporting
      // it would make every open page refetch.
      if (actor !== undefined) onRecorded()
      return
    }
    if (!(failure instanceof Failure)) return
    if (!REJECTED_STATUSES.has(failure.kind.status)) return
    if (actor === undefined) return countAnonymous()
    if (limit.consume(actor.name) > 0) return
    const { action } = change
    const after = { refused: failure.code }
    try {
      await record({
        actor,
        action,
        target: change.target(),
        outcome: 'refused',
        before: null,
        after,
      })
      onRecorded()
    } catch (error) {
      onError(error)
    }
  })
