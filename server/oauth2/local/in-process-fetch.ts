import { createServer, type RequestListener, request } from 'node:http'
import { duplexPair } from 'node:stream'
import { invariant } from '../../contract/invariant.ts'

/**
 * Maximum size of the headers of a request or response, bytes: four times the limit of a listener.
 * Percent-encoding can triple the size of a URL, and headers are added.
 */
const MAX_HEADERS = 64 * 1024

/**
 * Returns a `fetch` that passes requests to a listener in this process, without a socket and
 * regardless of their URL. Requests to the public URL would have to return through TLS and NAT,
 * which may not work.
 */
export function inProcessFetch(
  listener: RequestListener,
): (url: string, init: RequestInit) => Promise<Response> {
  // The server never listens; connections are passed to it directly.
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, listener)
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(url)
      const [near, far] = duplexPair()
      server.emit('connection', far)
      const sent = request({
        createConnection: () => near,
        maxHeaderSize: MAX_HEADERS,
        method,
        path: pathname + search,
        headers: { ...Object.fromEntries(new Headers(headers)), host, connection: 'close' },
        ...(signal && { signal }),
      })
      sent.on('error', reject)
      sent.on('response', async (answer) => {
        try {
          const { statusCode: status } = answer
          invariant(status, 'a response has a status')
          const parts: Buffer[] = []
          for await (const part of answer) parts.push(part)
          resolve(
            new Response(parts.length === 0 ? null : Buffer.concat(parts), {
              status,
              headers: Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
                values.map((value): [string, string] => [name, value]),
              ),
            }),
          )
        } catch (error) {
          reject(error)
        }
      })
      sent.end(body === undefined || body === null ? undefined : String(body))
    })
}
