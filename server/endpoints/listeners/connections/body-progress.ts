import type { IncomingMessage, ServerResponse } from 'node:http'
import { BODY_PROGRESS, BODY_STALLED } from '../../../contract/request-body.ts'

interface Upload {
  readonly response: ServerResponse
  /** Start of the current period, by `performance.now()`, and the bytes read by then. */
  since: number
  bytesRead: number
}

const TIMEOUT_RESPONSE = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** Watches the request bodies that are being received, on all connections. */
export class BodyProgress {
  readonly #uploads = new Map<IncomingMessage, Upload>()
  readonly #limit: { readonly bytes: number; readonly ms: number }

  constructor(limit: { readonly bytes: number; readonly ms: number } = BODY_PROGRESS) {
    this.#limit = limit
  }

  /** Watches the body of a request, if it has one. */
  add(request: IncomingMessage, response: ServerResponse, now: number): void {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    if ((length === undefined || length === '0') && coding === undefined) return
    this.#uploads.set(request, { response, since: now, bytesRead: request.socket.bytesRead })
  }

  /** Called when a request has its response. The rest of its body is still watched. */
  responded(request: IncomingMessage): void {
    if (request.complete || request.destroyed) this.#uploads.delete(request)
  }

  /** Ends requests whose body makes no progress. Called about once a second. */
  check(now: number): void {
    for (const [request, upload] of this.#uploads) {
      const { socket } = request
      if (request.complete || socket.destroyed) {
        this.#uploads.delete(request)
        continue
      }
      // Received but unread bytes stay in the buffer: the server is slow, not the client.
      const isRead = request.readableLength === 0
      if (!isRead || socket.bytesRead - upload.bytesRead >= this.#limit.bytes) {
        upload.since = now
        upload.bytesRead = socket.bytesRead
      } else if (now - upload.since >= this.#limit.ms) {
        this.#uploads.delete(request)
        end(request, upload.response)
      }
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
