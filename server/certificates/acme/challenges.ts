import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { SecureContextOptions } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { systemCode } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { findAnswer } from './stored-orders.ts'

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface ChallengesDeps {
  readonly store: Store
  /** The port at which requests of the directory to port 80 arrive. */
  readonly httpPort: number
  /** Whether an endpoint of this node listens on a TCP port. */
  readonly isServed: (port: number) => boolean
  readonly now: () => number
}

/** Matches the path of a challenge (RFC 8555 §8.3). */
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,256})$/

/** Maximum number of connections to the port that is opened for challenges. */
const CONNECTIONS = 100

/** Maximum time for a request to that port, ms. */
const REQUEST_TIMEOUT = 5_000

/** Number of keys for TLS-ALPN-01 in memory: creating one takes longer than a handshake. */
const CONTEXTS = 100

export type Challenges = ReturnType<typeof createChallenges>

/** Answers the challenges of the ACME directory, which are in the store, on every node. */
export function createChallenges({ store, httpPort, isServed, now }: ChallengesDeps) {
  const contexts = new LRUCache<string, Promise<SecureContextOptions>>({ max: CONTEXTS })

  /** Answers a challenge over HTTP; passes other requests on. */
  const answerFirst =
    (next: RequestHandler): RequestHandler =>
    (request, response) => {
      const token = request.method === 'GET' && CHALLENGE.exec(request.url ?? '')?.[1]
      if (!token) {
        next(request, response)
        return
      }
      findAnswer(store, { token }, now()).then(
        (answer) => {
          if (answer === undefined) next(request, response)
          else response.writeHead(200, { 'Content-Type': 'text/plain' }).end(answer)
        },
        () => response.writeHead(503).end(),
      )
    }

  /**
   * Listens for challenges over HTTP on all addresses, unless an endpoint does already. Returns a
   * function that stops it.
   *
   * @throws Error (rejects) with a code if the port cannot be opened.
   */
  async function listen(): Promise<() => void> {
    if (isServed(httpPort)) return () => {}
    const server = createServer(
      {
        headersTimeout: REQUEST_TIMEOUT,
        requestTimeout: REQUEST_TIMEOUT,
        connectionsCheckingInterval: REQUEST_TIMEOUT,
        keepAlive: false,
      },
      answerFirst((_request, response) => void response.writeHead(404).end()),
    )
    server.maxConnections = CONNECTIONS
    // Such as too many open files, later.
    server.on('error', () => {})
    await once(server.listen(httpPort).unref(), 'listening')
    return () => {
      server.close()
      server.closeAllConnections()
    }
  }

  return {
    answerFirst,
    listen,

    /** Returns what a handshake for TLS-ALPN-01 needs; undefined without a challenge for the name. */
    async contextFor(name: string): Promise<SecureContextOptions | undefined> {
      const answer = await findAnswer(store, { name: name.toLowerCase() }, now())
      if (answer === undefined) return undefined
      const { createAlpnCertificate } = await import('./directory-client.ts')
      const key = `${name} ${answer}`
      const created = contexts.get(key) ?? createAlpnCertificate(name, answer)
      contexts.set(key, created)
      return created
    },

    /** Returns whether a request to this machine gets the answer to a challenge, from any program. */
    async isAnswered(token: string, answer: string): Promise<boolean> {
      const url = `http://127.0.0.1:${httpPort}/.well-known/acme-challenge/${token}`
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT)
      const response = await fetch(url, { redirect: 'manual', signal }).catch(() => undefined)
      return response?.ok === true && (await response.text()).trim() === answer
    },
  }
}

/** Returns why the port for challenges cannot be opened. */
export function portReason(port: number, error: unknown): string {
  const code = systemCode(error)
  const reason =
    code === 'EADDRINUSE'
      ? `Port ${port} is used by another program, which does not answer the challenge.`
      : code === 'EACCES'
        ? `This server may not listen on port ${port}, at which the challenge is expected.`
        : `Port ${port} cannot be opened for the challenge: ${code ?? String(error)}.`
  return (
    `${reason} To have the challenge answered at another port, set GATEHOUSE_ACME_HTTP_PORT to that ` +
    'of an endpoint to which requests to port 80 are forwarded, or choose tls-alpn-01.'
  )
}
