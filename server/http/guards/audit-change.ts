import type { Context, Handler, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AuditEntry } from '../contract/audit.ts'
import type { AuditAction } from '../contract/audit-action.ts'
import { Failure } from '../failure.ts'
import type { Allowance } from './allowance.ts'
import type { AppEnv, AuditedChange } from './env.ts'

const ACTION = Symbol('action')

/**
 * Declares which audited action a route carries out: it is the action's documentation, and what
 * {@link recordRefusals} goes by. It stands before the route's `permit`, whose refusals count too.
 * `app.test.ts` finds a changing route that has none.
 *
 * @param target what the request is about to change, in the words of the log; asked only once the
 * request was refused, maybe before its body was read.
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

/** A body of whatever shape: undefined before it was read, fields as its schema left them. */
interface AnyJson {
  // biome-ignore lint/suspicious/noExplicitAny: each route knows what its own schema lets through
  out: { json: any }
}

/** The action that a handler declares; undefined: it is no {@link audited}. */
export const actionOf = (handler: Handler | MiddlewareHandler): AuditAction | undefined =>
  (handler as { [ACTION]?: AuditAction })[ACTION]

/** What {@link recordRefusals} does with refusals. */
export interface RefusalDeps {
  readonly record: (entry: AuditEntry) => Promise<void>
  /** Called for a refused change of nobody known, which is not kept: it could fill the disk. */
  readonly countAnonymous: () => void
  /** Whether one more of somebody is to be kept: one person could fill the disk, too. */
  readonly allow: Allowance
  /** Told when a change, or its refusal, has been put on record. */
  readonly onRecorded: () => void
  /** Told when a refusal could not be put on record; the answer stays what it was. */
  readonly onError: (error: unknown) => void
}

/** The statuses of a change that was understood and refused. */
const REFUSED = new Set([401, 403, 409, 412])

/**
 * Puts every refused change of somebody signed in on record, before it is answered; of those who are
 * refused all the time, as many as `allow` says.
 */
export const recordRefusals = ({
  record,
  countAnonymous,
  allow,
  onRecorded,
  onError,
}: RefusalDeps) =>
  createMiddleware<AppEnv>(async (c, next) => {
    await next()
    const change: AuditedChange | undefined = c.get('change')
    const failure = c.error
    if (change === undefined) return
    const { actor } = c.var as Partial<typeof c.var>
    if (failure === undefined) {
      // Nobody changes nothing, such as signing out who is not in: every open page would look.
      if (actor !== undefined) onRecorded()
      return
    }
    if (!(failure instanceof Failure)) return
    if (!REFUSED.has(failure.kind.status)) return
    if (actor === undefined) return countAnonymous()
    if (!allow(actor.name)) return
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
