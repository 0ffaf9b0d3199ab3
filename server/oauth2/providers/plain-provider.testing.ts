import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response of the provider. An object is sent as JSON, a string unchanged. */
export interface PlainResponse {
  readonly status?: number
  readonly type?: string
  readonly body: unknown
}

export interface PlainRequest {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly form: URLSearchParams
}

/** An external provider on loopback that supports OAuth 2.0 without OpenID Connect. */
export interface PlainProvider {
  readonly origin: string
  /** Requests received, in order. */
  readonly requests: PlainRequest[]
  /** Responses of the endpoints. Tests may replace them. */
  token: PlainResponse
  user: PlainResponse
  close(): void
}

/**
 * Starts a provider whose endpoints `/token` and `/user` return the responses that the test sets.
 */
export async function startPlainProvider(): Promise<PlainProvider> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    provider.requests.push({
      path: pathname,
      method: request.method ?? '',
      headers: request.headers,
      form: new URLSearchParams(Buffer.concat(chunks).toString()),
    })
    const { status = 200, type, body } = pathname === '/token' ? provider.token : provider.user
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'Content-Type': type ?? 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const provider: PlainProvider = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    token: { body: { access_token: 'first-token' } },
    user: { body: { id: 583231, login: 'ada' } },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}
