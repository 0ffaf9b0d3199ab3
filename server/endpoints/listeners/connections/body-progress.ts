import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BODY_PROGRESS, BODY_STALLED } from '../../../contract/request-body.ts'

interface Upload {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Start of the current period, by `performance.now()`, and the bytes read by then. */
  since: number
  bytesRead: number
}

const TIMEOUT_RESPONSE = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** Watches the request bodies that are being received, on all connections. */
export class BodyProgress {
  /**
   * The body that each connection receives; undefined if none. The keys are not the requests,
   * because a map that changes with each request would keep requests in memory until the next major
   * collection: V8 links its discarded hash tables to the later ones.
   */
  readonly #uploads = new Map<Socket, Upload | undefined>()
  readonly #limit: { readonly bytes: number; readonly ms: number }

  constructor(limit: { readonly bytes: number; readonly ms: number } = BODY_PROGRESS) {
    this.#limit = limit
  }

  /** Watches the body of a request, if it has one. */
  add(request: IncomingMessage, response: ServerResponse, now: number): void {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    if ((length === undefined || length === '0') && coding === undefined) return
    const { socket } = request
    const { bytesRead } = socket
    // On a connection, a request begins only when the body of the last one is complete.
    this.#uploads.set(socket, { request, response, since: now, bytesRead })
  }

  /** Called when a request has its response. The rest of its body is still watched. */
  responded(request: IncomingMessage): void {
    if (!request.complete && !request.destroyed) return
    const { socket } = request
    if (this.#uploads.get(socket)?.request === request) this.#uploads.set(socket, undefined)
  }

  /** Ends requests whose body makes no progress. Called about once a second. */
  check(now: number): void {
    for (const [socket, upload] of this.#uploads) {
      if (socket.destroyed) this.#uploads.delete(socket)
      else if (upload !== undefined) this.#check(socket, upload, now)
    }
  }

  #check(socket: Socket, upload: Upload, now: number): void {
    const { request, response } = upload
    // Received but unread bytes stay in the buffer: the server is slow, not the client.
    const isRead = request.readableLength === 0
    if (request.complete) this.#uploads.set(socket, undefined)
    else if (!isRead || socket.bytesRead - upload.bytesRead >= this.#limit.bytes) {
      upload.since = now
      upload.bytesRead = socket.bytesRead
    } else if (now - upload.since >= this.#limit.ms) {
      this.#uploads.set(socket, undefined)
      end(request, response)
    }
  }
}

function end(request: IncomingMessage, response: ServerResponse): void {
  if (request.emit(BODY_STALLED)) return
  const { socket } = request
  // Without a socket, the response is queued behind others on its connection.
  if (!response.headersSent && response.socket !== null) socket.write(TIMEOUT_RESPONSE)
  socket.destroySoon()
}
