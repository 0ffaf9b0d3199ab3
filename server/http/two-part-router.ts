import type { Result, Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'

/**
 * Routes the system's paths (`/`, `/healthz` and what begins with `/_`) and those of data apart. Side by side, a
 * pattern for the name of a collection and the fixed names of the system are more than hono's
 * `RegExpRouter` takes, and every request would go through the slower one that takes all.
 */
export class TwoPartRouter<T> implements Router<T> {
  readonly #system = either<T>()
  readonly #data = either<T>()

  /** Names the router that data has come to, once it was asked. */
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

const isSystem = (path: string) => path === '/' || path === '/healthz' || path.startsWith('/_')
