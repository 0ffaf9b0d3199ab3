import { STATUS_CODES } from 'node:http'
import type { ErrorBody, ErrorObject } from '../../../contract/acknowledgement.ts'
import { type FailureCode, failureKinds } from '../../../failure.ts'

/** The error that Node.js reports for a request it cannot parse. */
type ParseError = Error & { readonly code?: string; readonly rawPacket?: Buffer }

const LARGE_HEADERS = 'The URL and the headers together can have at most 16 KiB.'
const NOT_ENCODED = 'The URL has a character that must be percent-encoded, such as %C3%A9 for é.'

/** Status 431, 408 and 417 occur only here, so they have no `FailureCode`. */
function responseFor(code: string | undefined): {
  status: number
  code: FailureCode
  text: string
} {
  switch (code) {
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

/**
 * Returns the response to a malformed request, which announces the close of the connection. The
 * body is the Error object if the path was received and begins with `/_api`, otherwise the error
 * body.
 */
export function printClientError(error: ParseError): string {
  const { status, code, text } = responseFor(error.code)
  const { errorNum, id } = failureKinds[code]
  const isApi = API_TARGET.test(error.rawPacket?.toString('latin1', 0, TARGET_BYTES) ?? '')
  const body: ErrorObject | ErrorBody = isApi
    ? {
        error: true,
        code: status,
        errorNum: status === 400 ? errorNum : status,
        errorMessage: text,
      }
    : { id, message: text }
  const json = JSON.stringify(body)
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
    `Content-Type: application/json${isApi ? '; charset=utf-8' : ''}\r\n` +
    `Content-Length: ${Buffer.byteLength(json)}\r\nCache-Control: no-store\r\n\r\n${json}`
  )
}

/** Number of bytes of the request that are searched for its path. */
const TARGET_BYTES = 128

const API_TARGET = /^[A-Z-]{1,32} (?:\/_db\/[^/ ]{1,64})?\/_api(?:[/ ?]|$)/
