import { Context, type Hono } from 'hono'
import type { AppEnv } from './env.ts'
import { toHeadResponse } from './output/head-response.ts'

export interface DispatchDeps {
  /** Renders an error that a handler threw. */
  readonly onError: (error: Error, c: Context<AppEnv>) => Response | Promise<Response>
  /** Answers a request that no handler answered. */
  readonly notFound: (c: Context<AppEnv>) => Response
}

/** What a handler returns: nothing if another handler has responded. */
type Handled = Response | undefined | Promise<Response | undefined>

/** The promise of handlers that have finished synchronously, recognized by its identity. */
const DONE = Promise.resolve(undefined)

/**
 * Returns the `fetch` of a Hono application. It calls the matching middleware and handlers as
 * Hono's does, but continues synchronously unless one of them returns a pending promise. Hono
 * creates and awaits a promise for each, which costs more than a read itself
 * (docs/decisions/0024-synchronous-dispatch.md).
 */
export function createDispatch(
  app: Hono<AppEnv>,
  { onError, notFound }: DispatchDeps,
): Hono<AppEnv>['fetch'] {
  return (request, bindings) => {
    const env = bindings as AppEnv['Bindings']
    const isHead = request.method === 'HEAD'
    const path = app.getPath(request, { env })
    const matchResult = app.router.match(isHead ? 'GET' : request.method, path)
    const c = new Context<AppEnv>(request, { env, path, matchResult, notFoundHandler: notFound })
    const [handlers] = matchResult
    let at = 0
    let rest: Promise<undefined> | undefined

    // Handlers run in order and call `next` once, so all of them can share it.
    function next(): Promise<undefined> {
      rest = run()
      return rest
    }
    function run(): Promise<undefined> {
      try {
        const handler = handlers[at]?.[0][0]
        if (handler === undefined) return finish(c.finalized ? undefined : notFound(c))
        c.req.routeIndex = at++
        const handled = handler(c, next) as Handled
        if (!(handled instanceof Promise)) return finish(handled)
        // The promise of `next` never rejects, and resolves when the response is set.
        if (handled === DONE || handled === rest) return handled as Promise<undefined>
        return handled.then(finish, fail)
      } catch (error) {
        return fail(error)
      }
    }
    function finish(response: Response | undefined): Promise<undefined> {
      if (response !== undefined && !c.finalized) c.res = response
      return DONE
    }
    function fail(thrown: unknown): Promise<undefined> {
      // The reason of an aborted signal may be a string.
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      c.error = error
      const response = onError(error, c)
      if (response instanceof Promise) return response.then(replace)
      return replace(response)
    }
    function replace(response: Response): Promise<undefined> {
      c.res = response
      return DONE
    }

    const finished = run()
    if (isHead) return finished.then(() => toHeadResponse(c.res))
    return finished === DONE ? c.res : finished.then(() => c.res)
  }
}
