import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { isRepeated } from './asked-directly.ts'
import type { AppEnv, Via } from './env.ts'

/** The part of an application that answers requests (`Hono.fetch`). */
type Fetch = (request: Request, bindings: AppEnv['Bindings']) => Response | Promise<Response>

/** The host of a request of HTTP/1.0 that names none, as it may: no name of ours (RFC 6761 §6.4). */
const NO_HOST = 'none.invalid'

/** Answers a request, or leaves it untouched and says so: false. Never throws. */
export type AtOnce = (request: IncomingMessage, response: ServerResponse, via: Via) => boolean

/**
 * Answers Node's requests by an application, which is told the endpoint that each came through.
 * Never throws: what the application cannot answer is its own failure, what is no request gets 400.
 *
 * @param atOnce is asked before the application; by default it answers nothing.
 */
export function nodeHandler(
  fetch: Fetch,
  viaOf: (request: IncomingMessage) => Via,
  atOnce: AtOnce = () => false,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = getRequestListener(
    (request, bindings) => {
      const { incoming, outgoing } = bindings as HttpBindings
      return fetch(request, { incoming, outgoing, via: viaOf(incoming) })
    },
    { hostname: NO_HOST },
  )
  return (request, response) => {
    // Node takes the first of several, another may take the last: refused, as RFC 9112 §3.2 asks, so
    // that whoever stands before this server means the same host. An empty one is none.
    if (isRepeated(request, 'host') || request.headers.host === '') {
      response.writeHead(400, { Connection: 'close' }).end()
      return
    }
    if (!atOnce(request, response, viaOf(request))) void answer(request, response)
  }
}
