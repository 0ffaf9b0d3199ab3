import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { Coding } from '../../../contract/content-coding.ts'

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
export const encode = (body: Buffer, coding: Coding): Promise<Buffer> =>
  compressors[coding](body, OPTIONS[coding])

/** Returns a stream that compresses a body on a thread. */
export function createEncoder(coding: Coding): Transform {
  switch (coding) {
    case 'zstd':
      return zlib.createZstdCompress(OPTIONS.zstd)
    case 'br':
      return zlib.createBrotliCompress(OPTIONS.br)
    case 'gzip':
      return zlib.createGzip(OPTIONS.gzip)
  }
}
