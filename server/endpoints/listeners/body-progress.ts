import type { IncomingMessage, ServerResponse } from 'node:http'
import { BODY_PROGRESS, BODY_STALLED } from '../contract/request-body.ts'

interface Upload {
  readonly response: ServerResponse
  /** Start of the running period, as `performance.now()` counts, and what had arrived by then. */
  since: number
  bytesRead: number
}

const TIMEOUT_RESPONSE = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** Watches the request bodies that are arriving, on all connections. */
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

  /** Called when a request has its response: the rest of its body is still watched. */
  responded(request: IncomingMessage): void {
    if (request.complete || request.destroyed) this.#uploads.delete(request)
  }

  /** Ends what has not made progress. To be called about once a second. */
  check(now: number): void {
    for (const [request, upload] of this.#uploads) {
      const { socket } = request
      if (request.complete || socket.destroyed) {
        this.#uploads.delete(request)
        continue
      }
      // What has arrived and was not read yet stays in the buffer of the request.
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
  // Without a socket, the response waits for others on its connection.
  if (!response.headersSent && response.socket !== null) socket.write(TIMEOUT_RESPONSE)
  socket.destroySoon()
}
