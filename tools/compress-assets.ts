import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

/** Smaller files are not compressed, bytes. */
const SMALLEST = 500

/**
 * Writes a brotli and a gzip copy of each script and style sheet of the build. Otherwise the server
 * would compress them for each response, and less well.
 */
export const compressAssets: Plugin = {
  name: 'compress-assets',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:js|css|svg)$/.test(file))
      .map((file) => path.join(dir, file))
    await Promise.all(files.map(writeTwins))
  },
}

async function writeTwins(file: string): Promise<void> {
  const content = readFileSync(file)
  if (content.length < SMALLEST) return
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  }
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  writeFileSync(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}
