import type { Hono } from 'hono'
import type { Logger } from 'pino'
import type { AppEnv } from './env.ts'
import { splitRequestPath } from './input/request-path.ts'

type Fetch = Hono<AppEnv>['fetch']

/** Returns a `fetch` that logs each request with its status and duration at the level `debug`. */
export const logRequests =
  (log: Logger, fetch: Fetch): Fetch =>
  (request, env) => {
    if (!log.isLevelEnabled('debug')) return fetch(request, env)
    const begun = performance.now()
    const logged = (response: Response) => {
      const { listener } = env as AppEnv['Bindings']
      const { method } = request
      const { path } = splitRequestPath(request)
      const ms = Math.round((performance.now() - begun) * 1000) / 1000
      log.debug({ via: listener.name, method, path, status: response.status, ms }, 'request')
      return response
    }
    const response = fetch(request, env)
    return response instanceof Promise ? response.then(logged) : logged(response)
  }
