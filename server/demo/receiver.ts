import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver of webhooks on loopback. */
export interface Receiver {
  /** Accepts every message. */
  readonly url: string
  /** Rejects every message, so that a demo shows a webhook that fails. */
  readonly failingUrl: string
  close(): void
}

/** Starts a receiver of the webhooks of a demo. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(request.url === '/accept' ? 204 : 503).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/accept`,
    failingUrl: `${origin}/reject`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
