import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { AppEnv, Via } from './env.ts'

/** The part of an application that answers requests (`Hono.fetch`). */
type Fetch = (request: Request, bindings: AppEnv['Bindings']) => Response | Promise<Response>

/**
 * Answers Node's requests by an application, which is told the endpoint that each came through.
 * Never throws: what the application cannot answer is its own failure, what is no request gets 400.
 */
export function nodeHandler(
  fetch: Fetch,
  viaOf: (request: IncomingMessage) => Via,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = getRequestListener((request, bindings) => {
    const { incoming, outgoing } = bindings as HttpBindings
    return fetch(request, { incoming, outgoing, via: viaOf(incoming) })
  })
  return (request, response) => void answer(request, response)
}
