import { type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { createMiddleware } from 'hono/factory'
import { parseAccept } from 'hono/utils/accept'
import { CODINGS, type Coding } from '../../../contract/content-coding.ts'
import type { AppEnv } from '../../env.ts'
import { requestHeader } from '../../input/headers.ts'
import {
  codedHeaders,
  headerOf,
  isCompressible,
  notModifiedHeaders,
  type ResponseHead,
} from './coded-headers.ts'

/** Maximum number of responses that a node compresses at once. Further ones are sent as they are. */
const COMPRESSIONS = 32

/**
 * Paths of pages that contain secrets beside text from the request: their compressed size would
 * reveal the secret (BREACH).
 */
const isSecret = (path: string) => path.startsWith('/_idp/') || path.startsWith('/_oauth2/')

/** Compresses large responses for clients that send `Accept-Encoding`. */
export const compressResponses = (limit = COMPRESSIONS) => {
  let running = 0
  const slots = {
    enter() {
      if (running >= limit) return false
      running++
      return true
    },
    leave() {
      running--
    },
  }
  return createMiddleware<AppEnv>((c, next) => {
    const acceptEncoding = requestHeader(c, 'accept-encoding')
    const { outgoing } = c.env
    if (acceptEncoding === undefined || !(outgoing instanceof ServerResponse)) return next()
    if (!isSecret(c.req.path)) compressResponse(outgoing, acceptEncoding, slots)
    return next()
  })
}

/** Bodies of fewer bytes are not compressed. */
export const MIN_COMPRESSED = 1024

/** Limits the responses that are compressed at the same time. */
interface CompressionSlots {
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

/**
 * Returns the content coding that an `Accept-Encoding` header prefers (RFC 9110 §12.5.3); undefined
 * for none.
 */
export function chooseCoding(header: string): Coding | undefined {
  const ranges = parseAccept(header)
  const qualityOf = (name: string) => ranges.find(({ type }) => type.toLowerCase() === name)?.q
  const other = qualityOf('*') ?? 0
  // Unless it is named, no coding is acceptable and the least preferred.
  let best: { readonly coding: Coding | undefined; readonly quality: number } = {
    coding: undefined,
    quality: qualityOf('identity') ?? 0,
  }
  for (const coding of CODINGS) {
    const quality = qualityOf(coding) ?? other
    const isBetter = best.coding === undefined ? quality >= best.quality : quality > best.quality
    if (quality > 0 && isBetter) best = { coding, quality }
  }
  return best.coding
}

// Levels that compress JSON to about a tenth at more than 100 MB/s (zstd, br) or half of that.
const OPTIONS = {
  zstd: { params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 } },
  br: { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } },
  gzip: { level: 6 },
} as const

const compressors = {
  zstd: promisify(zlib.zstdCompress),
  br: promisify(zlib.brotliCompress),
  gzip: promisify(zlib.gzip),
} as const

/** Compresses a whole body on a thread. */
const encode = (body: Buffer, coding: Coding): Promise<Buffer> =>
  compressors[coding](body, OPTIONS[coding])

/** Returns a stream that compresses a body on a thread. */
function createEncoder(coding: Coding): Transform {
  switch (coding) {
    case 'zstd':
      return zlib.createZstdCompress(OPTIONS.zstd)
    case 'br':
      return zlib.createBrotliCompress(OPTIONS.br)
    case 'gzip':
      return zlib.createGzip(OPTIONS.gzip)
  }
}
