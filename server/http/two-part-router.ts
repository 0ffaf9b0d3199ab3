import type { Result, Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { DataRouter } from './data-router.ts'

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
export const isSystemPath = (path: string) =>
  path.startsWith('/_') || path === '/' || path === '/healthz' || path.startsWith('/healthz/')
