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
  return (request, response) => {
    if (!hasTwoHosts(request)) return void answer(request, response)
    response.writeHead(400, { Connection: 'close' }).end()
  }
}

/**
 * Node takes the first of several, another may take the last: refused, as RFC 9112 §3.2 asks, so that
 * whoever stands before this server means the same host.
 */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}
