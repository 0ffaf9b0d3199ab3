import { ServerResponse } from 'node:http'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../../env.ts'
import { requestHeader } from '../../input/request-header.ts'
import { compressResponse } from './compress-response.ts'

/** Maximum number of responses that a node compresses at once. Further ones are sent as they are. */
export const COMPRESSIONS = 32

/**
 * Paths of pages that contain secrets beside text from the request: their compressed size would
 * reveal the secret (BREACH).
 */
const isSecret = (path: string) => path.startsWith('/_idp/') || path.startsWith('/_oauth2/')

/** Compresses large responses for clients that send `Accept-Encoding`. */
export const compressResponses = (limit = COMPRESSIONS) => {
  let running = 0
  const slots = {
    enter() {
      if (running >= limit) return false
      running++
      return true
    },
    leave() {
      running--
    },
  }
  return createMiddleware<AppEnv>((c, next) => {
    const acceptEncoding = requestHeader(c, 'accept-encoding')
    const { outgoing } = c.env
    if (acceptEncoding === undefined || !(outgoing instanceof ServerResponse)) return next()
    if (!isSecret(c.req.path)) compressResponse(outgoing, acceptEncoding, slots)
    return next()
  })
}
