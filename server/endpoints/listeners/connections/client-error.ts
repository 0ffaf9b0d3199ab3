import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { ErrorBody, ErrorObject } from '../../../contract/acknowledgement.ts'
import { type FailureCode, failureKinds } from '../../../failure.ts'

/** The error that Node.js reports for a request it cannot parse. */
type ParseError = Error & { readonly code?: string; readonly rawPacket?: Buffer }

const LARGE_HEADERS = 'The URL and the headers together can have at most 16 KiB.'
/** The response to a navigation with {@link LARGE_HEADERS}, usually because of cookies. */
const COOKIES_PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Request too large · Gatehouse</title>
<h1>The request is too large</h1>
<p>${LARGE_HEADERS} If the address of this page is not long, the cookies of this site are too large.</p>
<p>Delete the cookies and site data of this site in the browser, then reload this page. All ports of a host share
their cookies, so other programs on this host may have set them.</p>
`

const NOT_ENCODED = 'The URL has a character that must be percent-encoded, such as %C3%A9 for é.'

const NO_HTTP_2 = 'The server supports HTTP/1.1. Use it instead of HTTP/2.'

/**
 * The code that Node.js reports for the connection preface of HTTP/2 (RFC 9113 §3.4). It reports no
 * error for other requests with HTTP/2.0 ({@link rejectVersion}).
 */
const HTTP_2 = 'HPE_PAUSED_H2_UPGRADE'

/** The code of a request with the method CONNECT, for which Node.js reports an event. */
const CONNECT = 'CONNECT'

/** Status 431, 408 and 505 occur only here, so they have no `FailureCode`. */
function errorFor(code: string | undefined): {
  status: number
  code: FailureCode
  text: string
} {
  switch (code) {
    case HTTP_2:
      return { status: 505, code: 'bad-parameter', text: NO_HTTP_2 }
    case CONNECT:
      return { status: 405, code: 'method-not-allowed', text: 'The server is not a proxy.' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, code: 'too-large', text: LARGE_HEADERS }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, code: 'too-large', text: 'The chunk extensions are too large.' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, code: 'bad-parameter', text: 'The request took too long to arrive.' }
    case 'HPE_INVALID_METHOD':
      return { status: 400, code: 'bad-parameter', text: 'The method is unknown.' }
    case 'HPE_INVALID_URL':
      return { status: 400, code: 'bad-parameter', text: NOT_ENCODED }
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return {
        status: 400,
        code: 'bad-parameter',
        text: 'Only the chunked transfer coding is supported.',
      }
    default:
      return { status: 400, code: 'bad-parameter', text: 'The request is not valid HTTP/1.1.' }
  }
}

interface ClientErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string
}

/**
 * Returns the response to a malformed request, which announces the close of the connection. The
 * body is the Error object if the path was received and begins with `/_api`, otherwise the error
 * body.
 *
 * @param head the request line, or its beginning.
 */
function responseFor(errorCode: string | undefined, head: string): ClientErrorResponse {
  const { status, code, text } = errorFor(errorCode)
  const { errorNum, id } = failureKinds[code]
  const isApi = API_TARGET.test(head)
  const error: ErrorObject | ErrorBody = isApi
    ? {
        error: true,
        code: status,
        errorNum: status === 400 ? errorNum : status,
        errorMessage: text,
      }
    : { id, message: text }
  const body = JSON.stringify(error)
  return {
    status,
    headers: {
      Connection: 'close',
      // RFC 9110 §15.5.6.
      ...(status === 405 && { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' }),
      'Content-Type': `application/json${isApi ? '; charset=utf-8' : ''}`,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
    },
    body,
  }
}

/** Returns the raw HTTP response to a request that Node.js cannot parse. */
export function printClientError({ code, rawPacket }: ParseError): string {
  const packet = rawPacket?.toString('latin1') ?? ''
  const head = packet.slice(0, TARGET_BYTES)
  const response = responseFor(code, head)
  if (response.status !== 431 || API_TARGET.test(head) || !isNavigation(packet))
    return printResponse(response)
  const headers = {
    ...response.headers,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(COOKIES_PAGE),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  }
  return printResponse({ ...response, headers, body: COOKIES_PAGE })
}

/**
 * Returns whether a browser navigates, by the packet in which the headers became too large. It may
 * be a later one, which has only a part of the cookies.
 */
function isNavigation(packet: string): boolean {
  const [, mode] = /\r\nsec-fetch-mode: *(\w+)/i.exec(packet) ?? []
  if (mode !== undefined) return mode === 'navigate'
  const isHead = /^[A-Z-]{1,32} \S+ HTTP\/1\.1\r\n/.test(packet)
  return isHead ? /\r\naccept: *text\/html/i.test(packet) : /; [^=;\s]+=/.test(packet)
}

/** Returns the raw HTTP response to a request with the method CONNECT. */
export const printConnectError = (): string => printResponse(responseFor(CONNECT, ''))

function printResponse({ status, headers, body }: ClientErrorResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/**
 * Rejects a request that Node.js parses although it is not HTTP/1: 505 for HTTP/2.0 (RFC 9110
 * §15.6.6), and 400 for HTTP/0.9 or no version, which Node.js does not distinguish.
 */
export function rejectVersion(request: IncomingMessage, response: ServerResponse): void {
  const { method, url, httpVersionMajor } = request
  const code = httpVersionMajor === 0 ? undefined : HTTP_2
  const { status, headers, body } = responseFor(code, `${method} ${url} `)
  response.writeHead(status, headers).end(body)
}

/** Number of bytes of the request that are searched for its path. */
const TARGET_BYTES = 128

const API_TARGET = /^[A-Z-]{1,32} (?:\/_db\/[^/ ]{1,64})?\/_api(?:[/ ?]|$)/
