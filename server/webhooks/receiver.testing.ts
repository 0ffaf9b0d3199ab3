import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request that a receiver got. */
export interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: the body of a message
  readonly json: any
}

/** A server that receives the messages of webhooks until the test ends. */
export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** Answers the next requests; the default is 204. */
  respond: (response: ServerResponse, request: IncomingMessage) => void
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts).toString()
    received.push({
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      json: JSON.parse(body),
    })
    receiver.respond(response, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    respond: (response) => response.writeHead(204).end(),
  }
  return receiver
}
