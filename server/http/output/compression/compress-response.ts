import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Coding } from '../../../contract/content-coding.ts'
import { chooseCoding } from './choose-coding.ts'
import {
  codedHeaders,
  headerOf,
  isCompressible,
  notModifiedHeaders,
  type ResponseHead,
} from './coded-headers.ts'
import { createEncoder, encode } from './encoders.ts'

/** Bodies of fewer bytes are not compressed. */
export const MIN_COMPRESSED = 1024

/** Limits the responses that are compressed at the same time. */
export interface CompressionSlots {
  /** Returns false if the limit is reached. */
  enter(): boolean
  leave(): void
}

type Method = 'writeHead' | 'flushHeaders' | 'write' | 'end' | 'emit'

/**
 * Compresses the body that a handler writes to a response, if it is large enough and the client
 * accepts a coding. The head is written with the first part of the body, whose size decides.
 */
export function compressResponse(
  response: ServerResponse,
  acceptEncoding: string,
  slots: CompressionSlots,
): void {
  const { writeHead, flushHeaders, write, end, emit } = response
  const original: Pick<ServerResponse, Method> = { writeHead, flushHeaders, write, end, emit }
  let head: ResponseHead | undefined

  /** Writes the head. Later calls of the handler reach the response. */
  const begin = (headers?: OutgoingHttpHeaders) => {
    Object.assign(response, original)
    if (head !== undefined) response.writeHead(head.status, headers ?? head.headers)
  }
  /** Returns the coding for a body, whose slot must be left; undefined to send it uncompressed. */
  const codingFor = (): Coding | undefined => {
    const coding = chooseCoding(acceptEncoding)
    return coding !== undefined && slots.enter() ? coding : undefined
  }
  const beginStream = () => {
    if (head === undefined || isSmall(head) || !isCompressible(head)) return begin()
    // If the client has disconnected, no `close` follows that would leave the slot.
    const coding = response.destroyed ? undefined : codingFor()
    begin(codedHeaders(head, coding))
    if (coding !== undefined) writeThrough(response, coding, slots)
  }
  const beginWithoutBody = () => {
    if (head?.status === 304) {
      return begin(notModifiedHeaders(head, response.req.headers['if-none-match']))
    }
    const isHead = response.req.method === 'HEAD'
    if (!isHead || head === undefined || isSmall(head) || !isCompressible(head)) return begin()
    begin(codedHeaders(head, chooseCoding(acceptEncoding)))
  }

  response.writeHead = (status: number, ...rest: unknown[]) => {
    head = { status, headers: (rest.pop() ?? {}) as OutgoingHttpHeaders }
    return response
  }
  response.flushHeaders = () => {
    beginStream()
    response.flushHeaders()
  }
  response.write = (...parameters: unknown[]) => {
    beginStream()
    return response.write(...(parameters as Parameters<ServerResponse['write']>))
  }
  response.end = (...parameters: unknown[]) => {
    const rest = parameters as Parameters<ServerResponse['end']>
    const body = toBuffer(parameters[0])
    if (body === undefined || head === undefined || !isCompressible(head)) {
      if (parameters[0] === undefined) beginWithoutBody()
      else begin()
      return response.end(...rest)
    }
    const coding = codingFor()
    if (coding === undefined) {
      begin(codedHeaders(head, undefined))
      return response.end(...rest)
    }
    const whole = head
    void encode(body, coding)
      .finally(() => slots.leave())
      .then((encoded) => {
        begin(codedHeaders(whole, coding, encoded.length))
        response.end(encoded)
      })
      .catch((error: Error) => response.destroy(error))
    return response
  }
}

const isSmall = (head: ResponseHead) => {
  const length = headerOf(head, 'content-length')
  return length !== undefined && Number(length) < MIN_COMPRESSED
}

/** Returns a whole body that is large enough. */
function toBuffer(body: unknown): Buffer | undefined {
  if (typeof body === 'string') {
    // A character has at most three bytes.
    if (body.length * 3 < MIN_COMPRESSED) return undefined
    return Buffer.byteLength(body) < MIN_COMPRESSED ? undefined : Buffer.from(body)
  }
  if (!(body instanceof Uint8Array) || body.length < MIN_COMPRESSED) return undefined
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Compresses the rest of a response as it is written, at the speed of the client. */
function writeThrough(response: ServerResponse, coding: Coding, slots: CompressionSlots): void {
  const { write, end, emit } = response
  const encoder = createEncoder(coding)
  encoder.on('data', (chunk) => {
    if (!write.call(response, chunk, 'utf8')) encoder.pause()
  })
  encoder.on('end', () => (end as () => void).call(response))
  encoder.on('error', (error) => response.destroy(error))
  encoder.on('drain', () => emit.call(response, 'drain'))
  response.once('close', () => {
    encoder.destroy()
    slots.leave()
  })
  // The handler waits for the encoder, and the encoder for the client.
  response.emit = (event: string | symbol, ...parameters: unknown[]) => {
    if (event !== 'drain') return emit.call(response, event, ...parameters)
    encoder.resume()
    return true
  }
  response.write = (chunk: unknown) => encoder.write(chunk)
  response.end = (chunk?: unknown) => {
    encoder.end(chunk)
    return response
  }
}
