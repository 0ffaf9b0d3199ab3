import type { ParamIndexMap, Result, Router } from 'hono/router'
import { UnsupportedPathError } from 'hono/router'

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
export class DataRouter<T> implements Router<T> {
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
