import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'
import { API_JSON } from './render-failure.ts'

/** Sets the headers of responses under `/_api`. */
export const apiHeaders = createMiddleware<AppEnv>(async (c, next) => {
  c.header('Cache-Control', 'no-store')
  await next()
  // Hono sends JSON without a charset.
  if (c.res.headers.get('Content-Type') === 'application/json') {
    c.res.headers.set('Content-Type', API_JSON)
  }
})
