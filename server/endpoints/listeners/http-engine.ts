import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { administration, otherWork, type TurnShare } from '../../concurrency/turn-share.ts'
import { BODY_PROGRESS } from '../../contract/request-body.ts'
import { systemCode } from '../../failure.ts'
import type { Traffic } from '../traffic.ts'
import { BodyProgress } from './connections/body-progress.ts'
import { printClientError, printConnectError, rejectVersion } from './connections/client-error.ts'
import { Connection } from './connections/connection.ts'
import { CountedResponse, ResponseBudget, sendComplete } from './connections/response-budget.ts'

/** The listener that accepted a request, as the engine sees it. */
export interface ConnectionOwner {
  readonly traffic: Traffic
  /** Whether responses announce that the connection will close. */
  readonly closing: boolean
}

/** Serves HTTP/1.1 on connections that listeners accept. */
export interface HttpEngine<D extends ConnectionOwner> {
  /** Sets the request handler. Called once, before the first connection is served. */
  onRequest(handle: (request: IncomingMessage, response: ServerResponse) => void): void
  /**
   * Sets the observer of requests, called when a response is written or its client has
   * disconnected. `milliseconds` is the time since the head of the request was parsed.
   */
  onEnd(observe: (response: CountedResponse, owner: D, milliseconds: number) => void): void
  /** Returns the listener that accepted a request. */
  ownerOf(request: IncomingMessage): D
  /** Serves a connection that a listener accepted. Its record is kept until the socket closes. */
  serve(socket: Socket, owner: D): Connection
  /** Bytes of responses that are being prepared or have not been read by clients. */
  readonly unsent: number
  /**
   * Throws if responses that clients have not read leave no memory for a response.
   *
   * @throws Failure `unavailable`
   */
  requireAvailable(response: unknown): void
  /**
   * Reserves bytes for a response before it is prepared, replacing its earlier reservation. Called
   * before a large body is read. Returns a promise only if the response has to wait.
   *
   * @throws Failure `unavailable` if the node holds too much or the client has disconnected.
   */
  reserve(response: unknown, bytes: number): Promise<void> | undefined
  /** Counts a response to an error that an identity provider reported apart from this server's. */
  countProviderError(response: unknown): void
  /** Stops the timers. The listeners close their connections. */
  close(): void
}

/** Timeouts and sizes of all connections, in ms and bytes. */
export interface HttpLimits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly bodyProgress: { readonly bytes: number; readonly ms: number }
  readonly connectionsCheckingInterval: number
  readonly keepAliveTimeout: number
  readonly sendTimeout: number
  readonly maxHeaderSize: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  headersTimeout: 10_000,
  // No timeout for the whole request: its body is limited by its progress.
  requestTimeout: 0,
  bodyProgress: BODY_PROGRESS,
  // Node's default of 30 s would close a slow client up to 30 s late.
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // A client that reads none of its pending bytes for this long is disconnected.
  sendTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
})

/** Whether a method is safe (RFC 9110 §9.2.1). */
const isSafe = (method: string | undefined) =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

/** Matches the paths of health checks, which are not delayed unless they are pipelined. */
const HEALTH = /^(?:\/_db\/[^/?]+)?\/(?:_api\/health|healthz)(?:[/?]|$)/

/** Matches the paths of administration: `/`, the console, its API and signing in. */
const ADMINISTRATION = /^(?:\/_db\/[^/?]+)?\/(?:$|\?|_(?:api|console|oauth2|idp)\/)/

/** Matches targets with dot segments, which are resolved later and may lead to any path. */
const DOT_SEGMENT = /[/\\](?:\.|%2e)/i

const CONNECTION = Symbol('connection')
const OWNER = Symbol('owner')
const BEGUN = Symbol('begun')
const PROVIDER_ERROR = Symbol('provider error')

type Served<D> = Socket & { [CONNECTION]?: Connection; [OWNER]?: D }
type Timed = CountedResponse & { [BEGUN]?: number; [PROVIDER_ERROR]?: true }

/**
 * Creates the one HTTP server of the process. It never listens: listeners are plain `net` servers
 * that pass their connections to it by emitting `'connection'`, as Node's `http.Server` documents.
 * Thousands of endpoints share one parser setup and one timer, closing an endpoint with
 * `net.Server.close` leaves its busy keep-alive connections open, and each request knows its
 * listener (docs/decisions/0005-one-http-server-for-all-listeners.md).
 *
 * @param budget for all responses that clients have not read yet.
 */
export function createHttpEngine<D extends ConnectionOwner>(
  limits: HttpLimits = HTTP_LIMITS,
  budget = new ResponseBudget(),
): HttpEngine<D> {
  const http = createServer<typeof IncomingMessage, typeof CountedResponse>({
    ...limits,
    ServerResponse: CountedResponse,
  })
  const uploads = new BodyProgress(limits.bodyProgress)
  const connections = new Set<Connection>()
  const maxStalledChecks = limits.sendTimeout / limits.connectionsCheckingInterval
  const checking = setInterval(() => {
    uploads.check(performance.now())
    for (const connection of connections) connection.check(maxStalledChecks)
  }, limits.connectionsCheckingInterval).unref()
  // Node.js starts its check of slow clients on 'listening', which this server never emits itself.
  http.emit('listening')
  http.on('clientError', (error, socket: Served<D>) => {
    const connection = socket[CONNECTION]
    if (systemCode(error) === 'ECONNRESET') socket.destroy()
    // Node.js reports every further packet.
    else if (connection?.isRejected) return
    else if (!socket.writable) socket.destroy()
    else connection?.reject(printClientError(error))
  })

  // Node.js would ask for the body at once. A response to the head, such as 401 or 413, comes first.
  http.on('checkContinue', (request, response) => {
    continueWhenRead(request, response)
    http.emit('request', request, response)
  })

  // Node.js would close the connection without a response. It has removed its listeners, so the rest
  // of an earlier response could not be sent.
  http.on('connect', (_request, socket: Served<D>) => {
    socket.on('error', () => socket.destroy())
    if (socket[CONNECTION]?.isResponding ?? true) socket.destroy()
    else socket.resume().end(printConnectError(), () => socket.destroy())
  })

  /** Sends 100 once the body is read (RFC 9110 §10.1.1). */
  function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
    const { shouldKeepAlive } = response
    // After a response without 100, the client may or may not send the body.
    response.shouldKeepAlive = false
    const read = request._read
    request._read = (size) => {
      request._read = read
      if (!response.headersSent) {
        response.shouldKeepAlive = shouldKeepAlive && !ownerOf(request).closing
        response.writeContinue()
      }
      read.call(request, size)
    }
  }

  let observe: Parameters<HttpEngine<D>['onEnd']>[0] = () => {}

  // One function for all responses avoids a closure per request.
  function finished(this: CountedResponse): void {
    const socket = this.req.socket as Served<D>
    const now = performance.now()
    const connection = socket[CONNECTION]
    connection?.end(this, now)
    uploads.responded(this.req)
    connection?.leave(isSafe(this.req.method))
    const { [BEGUN]: begun = now, [PROVIDER_ERROR]: isProviderError }: Timed = this
    const owner = socket[OWNER]
    if (owner === undefined) return
    observe(this, owner, now - begun)
    // The client disconnected before its response, so there is no status to count.
    if (!this.headersSent) return
    const status = isProviderError ? 'provider_error' : this.statusCode
    owner.traffic.count(status, now - begun, Date.now())
  }

  const ownerOf = (request: IncomingMessage): D => {
    const owner = (request.socket as Served<D>)[OWNER]
    if (owner === undefined) throw new Error('received a request on an unknown connection')
    return owner
  }

  /**
   * Returns the share of the event loop in which a request is handled; undefined if it is not
   * limited (docs/decisions/0035-shares-of-the-event-loop.md).
   */
  function shareOf({ url = '' }: IncomingMessage): TurnShare | undefined {
    const isHealth = HEALTH.test(url)
    if ((!isHealth && !ADMINISTRATION.test(url)) || DOT_SEGMENT.test(url)) return otherWork
    return isHealth ? undefined : administration
  }

  return {
    onRequest(handle) {
      http.on('request', (request, response: Timed) => {
        const connection = (request.socket as Served<D>)[CONNECTION]
        const now = performance.now()
        response[BEGUN] = now
        uploads.add(request, response, now)
        // The event fires once; `once` would only add a wrapper.
        response.on('close', finished)
        connection?.begin(response, ownerOf(request).closing)
        const run = () => {
          // A client may disconnect while its request waits. It may also complete the request after
          // the response to its timeout.
          if (!request.socket.writable) return
          if (request.httpVersionMajor === 1) handle(request, response)
          else rejectVersion(request, response)
        }
        const own = shareOf(request)
        response.isAdministration = own !== otherWork
        // Thousands of health checks could be pipelined.
        const share = connection?.isPipelining ? otherWork : own
        const begin = share === undefined ? run : () => share.run(run)
        if (connection === undefined) begin()
        else connection.enter(isSafe(request.method), begin)
      })
    },
    onEnd(given) {
      observe = given
    },
    ownerOf,
    serve(socket: Served<D>, owner) {
      // Node.js keeps the address, which the system forgets when the connection closes.
      void socket.remoteAddress
      const connection = new Connection(socket, budget)
      connections.add(connection)
      socket.once('close', () => connections.delete(connection))
      socket[CONNECTION] = connection
      socket[OWNER] = owner
      // Node.js ends its side of the connection after the client. Over TLS, a request and the end of
      // the client's side can arrive in one turn.
      socket.once('end', sendComplete)
      http.emit('connection', socket)
      // After the listener of Node.js, which starts to read.
      socket.on('resume', () => connection.pauseIfFull())
      return connection
    },
    get unsent() {
      return budget.held
    },
    requireAvailable(response) {
      if (!(response instanceof CountedResponse)) return
      budget.requireAvailable(1, response.isAdministration)
    },
    reserve(response, bytes) {
      if (!(response instanceof CountedResponse)) return undefined
      const { [CONNECTION]: connection }: Served<D> = response.req.socket
      return connection?.reserve(response, bytes)
    },
    countProviderError(response) {
      if (response instanceof CountedResponse) (response as Timed)[PROVIDER_ERROR] = true
    },
    close() {
      clearInterval(checking)
      http.close()
    },
  }
}
