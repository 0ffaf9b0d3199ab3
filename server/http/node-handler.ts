import type { IncomingMessage, ServerResponse } from 'node:http'
import type { getRequestListener, HttpBindings } from '@hono/node-server'
import { Failure, toErrorBody } from '../failure.ts'
import type { AppEnv, ListenerContext } from './env.ts'

/** The request handler of an application (`Hono.fetch`). */
type Fetch = (request: Request, bindings: AppEnv['Bindings']) => Response | Promise<Response>

/**
 * Host of an HTTP/1.0 request without one. The name is reserved (RFC 6761 §6.4) and never
 * configured.
 */
const NO_HOST = 'none.invalid'

/** The failure of a request whose target has no URL, such as that of `OPTIONS *`. */
const MALFORMED = new Failure('bad-parameter', 'The URL or the Host header is not valid.')

/**
 * Returns a request listener for Node that passes each request to an application, together with the
 * endpoint that received it. It never throws. Malformed requests get 400.
 */
export function nodeHandler(
  fetch: Fetch,
  contextOf: (request: IncomingMessage) => ListenerContext,
): (request: IncomingMessage, response: ServerResponse) => void {
  let listener: ReturnType<typeof getRequestListener> | undefined
  let loading: Promise<void> | undefined
  // Loaded by the first request: the adapter makes Node.js load the HTTP client of `fetch`.
  async function load(): Promise<void> {
    const adapter = await import('@hono/node-server')
    listener = adapter.getRequestListener(
      (request, bindings) => {
        const { incoming, outgoing } = bindings as HttpBindings
        return fetch(request, { incoming, outgoing, listener: contextOf(incoming) })
      },
      {
        hostname: NO_HOST,
        errorHandler: (error) =>
          error instanceof adapter.RequestError
            ? Response.json(toErrorBody(MALFORMED), { status: 400 })
            : new Response(null, { status: 500 }),
      },
    )
  }
  return (request, response) => {
    // With several Host headers Node uses the first and a proxy may use the last. RFC 9112 §3.2
    // requires 400, so that both see the same host. An empty one counts as missing.
    if (isRepeated(request, 'host') || request.headers.host === '') {
      response.writeHead(400, { Connection: 'close' }).end()
      return
    }
    if (listener !== undefined) {
      void listener(request, response)
      return
    }
    loading ??= load()
    loading.then(
      () => listener?.(request, response),
      // The files of the package were replaced while the node was running.
      () => response.writeHead(500, { Connection: 'close' }).end(),
    )
  }
}

/** Returns whether a request repeats a header. `name` is in lower case. */
function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at]
    if (other?.length === name.length && other.toLowerCase() === name) times++
  }
  return times > 1
}
