import type { Page } from '@playwright/test'

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
      return { count: own.length, bytes: sum(own) }
    },
    reads: () => reads,
  }
}
