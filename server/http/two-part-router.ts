import type { Result, Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'

/**
 * Routes system paths (`/`, `/healthz…` and paths that begin with `/_`) and data paths separately. A
 * pattern for collection names beside the fixed system names exceeds what hono's `RegExpRouter`
 * supports; a single router would send every request through the slower `TrieRouter`.
 */
export class TwoPartRouter<T> implements Router<T> {
  readonly #system = either<T>()
  readonly #data = either<T>()

  /** Returns a name that includes the router selected for data, once it has matched a request. */
  get name(): string {
    return `TwoPartRouter (${this.#data.name})`
  }

  add(method: string, path: string, handler: T): void {
    const everywhere = path === '*' || path === '/*'
    if (everywhere || isSystem(path)) this.#system.add(method, path, handler)
    if (everywhere || !isSystem(path)) this.#data.add(method, path, handler)
  }

  match(method: string, path: string): Result<T> {
    return (isSystem(path) ? this.#system : this.#data).match(method, path)
  }
}

const either = <T>() =>
  new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] })

const isSystem = (path: string) =>
  path.startsWith('/_') || path === '/' || path === '/healthz' || path.startsWith('/healthz/')
