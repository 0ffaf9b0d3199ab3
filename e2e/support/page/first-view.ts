import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import type { Page } from '@playwright/test'

const ASSETS = fileURLToPath(new URL('../../../dist/console/assets/', import.meta.url))

/** What a page has loaded since {@link watchFirstView}; bytes on the wire, including headers. */
export interface FirstView {
  bytes(): number
  scripts(): { readonly count: number; readonly bytes: number }
  /** The path and query of each API request, in order. */
  reads(): readonly string[]
}

/** Starts to record what a page loads. */
export async function watchFirstView(page: Page): Promise<FirstView> {
  const devtools = await page.context().newCDPSession(page)
  const types = new Map<string, string>()
  const finished: { readonly type: string; readonly bytes: number }[] = []
  const reads: string[] = []
  devtools.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
    types.set(requestId, type ?? '')
    const { pathname, search } = new URL(request.url)
    if (pathname.includes('/_api/')) reads.push(pathname + search)
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    finished.push({ type: types.get(requestId) ?? '', bytes: encodedDataLength })
  })
  await devtools.send('Network.enable')
  const sum = (all: typeof finished) => all.reduce((total, { bytes }) => total + bytes, 0)
  return {
    bytes: () => sum(finished),
    scripts() {
      const own = finished.filter(({ type }) => type === 'Script')
      return { count: own.length + 1, bytes: sum(own) + workerSize() }
    },
    reads: () => reads,
  }
}

/** Returns the size of the shared worker, whose requests the page does not see. */
function workerSize(): number {
  const name = readdirSync(ASSETS).find((file) => /^live-worker.*\.js$/.test(file))
  if (name === undefined) throw new Error('the build has no live-worker')
  return brotliCompressSync(readFileSync(ASSETS + name)).length
}
