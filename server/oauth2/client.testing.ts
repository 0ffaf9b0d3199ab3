import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { type OAuth2ClientOptions, OAuth2Error } from './client.ts'

export const ID = 'canary-id-7f3a&<>"1'
export const SECRET = 'canary:secret/9c2e +%"\'1'
export const CALLBACK = 'https://app.example/callback?x=1'

export const endpoints = {
  authEndpoint: 'https://id.example/authorize',
  tokenEndpoint: 'https://id.example/token',
}
export const credentials = { clientId: ID, clientSecret: SECRET }

export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * Starts a server on loopback that records requests. Returns the client options that point at it.
 */
export async function serve(answer: (response: ServerResponse, request: Received) => void) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options: OAuth2ClientOptions = {
    ...credentials,
    authEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token?tenant=1`,
    activeUserEndpoint: `${origin}/user?fields=id`,
  }
  return { origin, options, received, one: () => received[0] as Received }
}

export const send =
  (body: string | Buffer, type = 'application/json', status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': type }).end(body)
  }

export const json = (value: unknown, status = 200) =>
  send(JSON.stringify(value), 'application/json', status)

export async function failure(promise: Promise<unknown>): Promise<OAuth2Error> {
  const thrown = await promise.then(
    (value) => expect.fail(`resolved with ${inspect(value)}`),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(OAuth2Error)
  return thrown as OAuth2Error
}
