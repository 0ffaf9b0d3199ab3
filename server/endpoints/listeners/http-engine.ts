import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BODY_PROGRESS } from '../contract/request-body.ts'
import { BodyProgress } from './body-progress.ts'
import { answerClientError } from './client-error.ts'
import { Connection } from './connection.ts'
import { CountedResponse } from './counted-response.ts'
import { ResponseBudget } from './response-budget.ts'
import type { Traffic } from './traffic.ts'

/** The listener behind a request, as the engine needs to know it. */
export interface Door {
  readonly traffic: Traffic
  /** Whether responses are to tell their client that the connection ends. */
  readonly closing: boolean
}

/** Serves HTTP/1.1 on connections that others accept. */
export interface HttpEngine<D extends Door> {
  /** Says what answers requests. To be called once, before the first connection is served. */
  onRequest(handle: (request: IncomingMessage, response: ServerResponse) => void): void
  /** The door that a request came through. */
  doorOf(request: IncomingMessage): D
  /** Takes a connection that came through a door; the record is kept until the socket closes. */
  serve(socket: Socket, door: D): Connection
  /** Bytes of responses that are being prepared or that clients have not read yet. */
  readonly unsent: number
  /**
   * Fails where clients have left so much unread that the node has no room for responses.
   *
   * @throws Failure `unavailable`
   */
  requireRoom(): void
  /**
   * Holds bytes for a response that is about to be prepared, in place of what it held before. To be
   * called before a large body is read.
   *
   * @throws Failure `unavailable` where the node holds too much, or the client has left.
   */
  reserve(response: unknown, bytes: number): Promise<void>
  /** Ends the timers that look for slow clients. Connections are the listeners' to close. */
  close(): void
}

/** Times and sizes of every connection, in ms and bytes. */
export interface HttpLimits {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly bodyProgress: { readonly bytes: number; readonly ms: number }
  readonly connectionsCheckingInterval: number
  readonly keepAliveTimeout: number
  readonly sendTimeout: number
  readonly maxHeaderSize: number
}

/** The {@link HttpLimits} of a node. */
export const HTTP_LIMITS: HttpLimits = Object.freeze({
  headersTimeout: 10_000,
  // No limit for the whole request: a body is limited by its progress.
  requestTimeout: 0,
  bodyProgress: BODY_PROGRESS,
  // Node looks only every 30 s by default: a slow client would be cut a minute late.
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // A client that has bytes to receive and takes none of them for so long is cut off.
  sendTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
})

/** Whether a request changes nothing (RFC 9110 §9.2.1). */
const isSafe = (method: string | undefined) =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

const CONNECTION = Symbol('connection')
const DOOR = Symbol('door')
const BEGUN = Symbol('begun')

type Served<D> = Socket & { [CONNECTION]?: Connection; [DOOR]?: D }
type Timed = CountedResponse & { [BEGUN]?: number }

/**
 * Makes the one HTTP server of the process. It never listens: listeners are plain `net` servers that
 * hand their connections over (`'connection'` may be emitted, Node's `http.Server` documents it).
 * So thousands of endpoints share one parser set-up and one timer, closing an endpoint is
 * `net.Server.close`, which leaves busy keep-alive connections alone, and every request knows the
 * endpoint it came through.
 *
 * @param budget of all responses that clients have not read yet.
 */
export function createHttpEngine<D extends Door>(
  limits: HttpLimits = HTTP_LIMITS,
  budget = new ResponseBudget(),
): HttpEngine<D> {
  const http = createServer<typeof IncomingMessage, typeof CountedResponse>({
    ...limits,
    ServerResponse: CountedResponse,
  })
  const uploads = new BodyProgress(limits.bodyProgress)
  const connections = new Set<Connection>()
  const mostLooks = limits.sendTimeout / limits.connectionsCheckingInterval
  const checking = setInterval(() => {
    uploads.check(performance.now())
    for (const connection of connections) {
      if (connection.lookForProgress() >= mostLooks) connection.socket.destroy()
    }
  }, limits.connectionsCheckingInterval).unref()
  // The look for slow clients starts with 'listening', which this server never comes to by itself.
  http.emit('listening')
  http.on('clientError', (error, socket) => answerClientError(error, socket as Socket))

  // One function for all responses, so that a request costs no closure.
  function finished(this: CountedResponse): void {
    const socket = this.req.socket as Served<D>
    const now = performance.now()
    const connection = socket[CONNECTION]
    connection?.end(this, now)
    uploads.responded(this.req)
    connection?.leave(isSafe(this.req.method))
    // A client that left before its answer got none: no status to count.
    if (!this.headersSent) return
    socket[DOOR]?.traffic.count(this.statusCode, now - ((this as Timed)[BEGUN] ?? now), Date.now())
  }

  const doorOf = (request: IncomingMessage): D => {
    const door = (request.socket as Served<D>)[DOOR]
    if (door === undefined) throw new Error('a request came on a connection nobody handed over')
    return door
  }

  return {
    onRequest(handle) {
      http.on('request', (request, response: Timed) => {
        const connection = (request.socket as Served<D>)[CONNECTION]
        const now = performance.now()
        response[BEGUN] = now
        uploads.add(request, response, now)
        // Not `once`, which would wrap it anew each time: it is emitted but once.
        response.on('close', finished)
        connection?.begin(response, doorOf(request).closing)
        if (connection === undefined) handle(request, response)
        else connection.enter(isSafe(request.method), () => handle(request, response))
      })
    },
    doorOf,
    serve(socket: Served<D>, door) {
      const connection = new Connection(socket, budget)
      connections.add(connection)
      socket.once('close', () => connections.delete(connection))
      socket[CONNECTION] = connection
      socket[DOOR] = door
      http.emit('connection', socket)
      return connection
    },
    get unsent() {
      return budget.held
    },
    requireRoom: () => budget.requireRoom(1),
    async reserve(response, bytes) {
      if (!(response instanceof CountedResponse)) return
      const { [CONNECTION]: connection }: Served<D> = response.req.socket
      await connection?.reserve(response, bytes)
    },
    close() {
      clearInterval(checking)
      http.close()
    },
  }
}
