import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { COMPRESSION } from '../../../contract/request-body.ts'
import { Failure } from '../../../failure.ts'

/**
 * Decompresses a body of gzip (RFC 1952) as it arrives, while the caller reads it.
 *
 * @param chunks closed if the caller does not read to the end.
 * @throws Failure `bad-parameter` if the body is not gzip; `too-large` if it is compressed by more
 * than {@link COMPRESSION}; any error that `chunks` throws.
 */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decompressed = createGunzip({ chunkSize: CHUNK })
  let sent = 0
  let bytes = 0
  async function* counted() {
    for await (const chunk of chunks) {
      sent += chunk.length
      yield chunk
    }
  }
  // The reader of the stream gets its errors.
  pipeline(counted, decompressed, () => {})
  try {
    for await (const chunk of decompressed as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > COMPRESSION.from && bytes > sent * COMPRESSION.ratio) throw tooCompressed()
      yield chunk
    }
  } catch (cause) {
    throw isZlibError(cause) ? notGzip(cause) : cause
  }
}

/** Maximum size of a decompressed chunk, bytes. */
const CHUNK = 64 * 1024

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

const notGzip = (cause: unknown) =>
  new Failure('bad-parameter', 'The body is not gzip, or is incomplete.', {
    cause,
    field: 'Content-Encoding',
  })

const tooCompressed = () =>
  new Failure(
    'too-large',
    `The decompressed body is more than ${COMPRESSION.ratio} times the size of the compressed one.`,
    { field: 'Content-Encoding' },
  )
