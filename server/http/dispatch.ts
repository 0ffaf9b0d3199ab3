import type { ServerResponse } from 'node:http'
import { Context, type Hono } from 'hono'
import { type ParamIndexMap, type Result, type Router, UnsupportedPathError } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import type { AppEnv } from './env.ts'

export interface DispatchDeps {
  /** Renders an error that a handler threw. */
  readonly onError: (error: Error, c: Context<AppEnv>) => Response | Promise<Response>
  /** Answers a request that no handler answered. */
  readonly notFound: (c: Context<AppEnv>) => Response
}

const CONTEXT = Symbol('context')

type Answered = ServerResponse & { [CONTEXT]?: Context<AppEnv> }

/**
 * Returns the context of an answered request, for code that observes the end of its response;
 * undefined if the application has not seen the request.
 */
export const contextOf = (response: Answered): Context<AppEnv> | undefined => response[CONTEXT]

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
    if (env?.outgoing !== undefined) (env.outgoing as Answered)[CONTEXT] = c
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

/** Matches the type of event streams, which may be endless. */
const STREAM = /^text\/event-stream/

/** Returns whether the length of a body is unknown: that of an event stream or an export. */
const isStream = (headers: Headers): boolean =>
  headers.has('Content-Disposition') || STREAM.test(headers.get('Content-Type') ?? '')

/**
 * Returns the response to a `HEAD` request: that of the `GET` request without its body, with the
 * same Content-Length (RFC 9110 §9.3.2).
 */
async function toHeadResponse(response: Response): Promise<Response> {
  const { status, headers } = response
  const isMeasured = status === 204 || status === 304 || headers.has('Content-Length')
  if (!isMeasured && isStream(headers)) await response.body?.cancel()
  else if (!isMeasured) {
    headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  }
  return new Response(null, { status, headers })
}

interface Route<T> {
  readonly method: string
  /** Number of segments, or undefined if the handler is called for every path. */
  readonly depth: number | undefined
  readonly parameters: ParamIndexMap
  /** The pattern of the first segment, if it has one. */
  readonly first: RegExp | undefined
  readonly handler: T
}

interface Matched<T> {
  readonly handlers: [T, ParamIndexMap][]
  readonly first: RegExp | undefined
}

const PARAMETER = /^:([a-z]+)(?:\{(.+)\})?$/
const ALL = 'ALL'

/**
 * Routes paths of one or two segments that are all parameters: `/:collection` and
 * `/:collection/:id`. The second one may be empty, as in `/articles/?id=1`. Hono's `RegExpRouter` looks up every path in a table of paths without
 * parameters first, which takes longer than splitting it
 * (docs/decisions/0024-synchronous-dispatch.md).
 */
class DataRouter<T> implements Router<T> {
  readonly name = 'DataRouter'
  readonly #routes: Route<T>[] = []
  /** Handlers by method, for one and for two segments. Filled by the first request of each. */
  readonly #matched = [new Map<string, Matched<T>>(), new Map<string, Matched<T>>()] as const

  /** @throws UnsupportedPathError unless the path is `*` or consists of one or two parameters. */
  add(method: string, path: string, handler: T): void {
    if (path === '*' || path === '/*') {
      const all = { depth: undefined, parameters: {}, first: undefined }
      this.#routes.push({ method, handler, ...all })
      return
    }
    const parts = path
      .slice(1)
      .split('/')
      .map((segment) => PARAMETER.exec(segment))
    const names = parts.map((part) => part?.[1])
    const [first] = parts
    if (parts.length > 2 || names.includes(undefined) || parts[1]?.[2] !== undefined) {
      throw new UnsupportedPathError(path)
    }
    this.#routes.push({
      method,
      handler,
      depth: parts.length,
      parameters: Object.fromEntries(names.map((name, at) => [name, at + 1])),
      first: first?.[2] === undefined ? undefined : new RegExp(`^${first[2]}$`),
    })
  }

  match(method: string, path: string): Result<T> {
    const slash = path.indexOf('/', 1)
    const isNested = slash !== -1
    const first = isNested ? path.slice(1, slash) : path.slice(1)
    const second = isNested ? path.slice(slash + 1) : ''
    const matched = this.#matched[isNested ? 1 : 0].get(method) ?? this.#match(method, isNested)
    const isMatch = (matched.first?.test(first) ?? true) && !second.includes('/')
    if (isMatch) return [matched.handlers, [path, first, second]]
    return [this.#routesOf(method, undefined), [path]]
  }

  #match(method: string, isNested: boolean): Matched<T> {
    const depth = isNested ? 2 : 1
    const first = this.#routes.find((route) => route.depth === depth)?.first
    const matched = { handlers: this.#routesOf(method, depth), first }
    this.#matched[isNested ? 1 : 0].set(method, matched)
    return matched
  }

  #routesOf(method: string, depth: number | undefined): [T, ParamIndexMap][] {
    return this.#routes
      .filter((route) => route.method === method || route.method === ALL)
      .filter((route) => route.depth === undefined || route.depth === depth)
      .map(({ handler, parameters }) => [handler, parameters])
  }
}

/**
 * Routes system paths (`/`, `/healthz…` and paths that begin with `/_`) and data paths separately. A
 * pattern for collection names beside the fixed system names exceeds what hono's `RegExpRouter`
 * supports; a single router would send every request through the slower `TrieRouter`.
 */
export class TwoPartRouter<T> implements Router<T> {
  readonly name = 'TwoPartRouter'
  readonly #system = new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] })
  readonly #data = new DataRouter<T>()

  add(method: string, path: string, handler: T): void {
    const everywhere = path === '*' || path === '/*'
    if (everywhere || isSystemPath(path)) this.#system.add(method, path, handler)
    if (everywhere || !isSystemPath(path)) this.#data.add(method, path, handler)
  }

  match(method: string, path: string): Result<T> {
    return (isSystemPath(path) ? this.#system : this.#data).match(method, path)
  }
}

/** Returns whether a path belongs to the system: it names no collection. */
const isSystemPath = (path: string) =>
  path.startsWith('/_') || path === '/' || path === '/healthz' || path.startsWith('/healthz/')
