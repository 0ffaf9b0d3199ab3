// Shared worker that holds the browser's only stream of live events and forwards each event to
// every open page. The stream closes when the last page leaves.

import { BACKGROUND_HEADER } from '../../../server/contract/access/session-use.ts'
import type { LiveEvent } from '../../../server/contract/event.ts'
import { type Connection, openStream, type Stream } from './live-connection.ts'

/** Messages from a page to the worker. */
export type PageMessage =
  | { readonly type: 'open'; readonly url: string; readonly after: string | undefined }
  | { readonly type: 'try' | 'close' }

/** Messages from the worker to a page. `look` asks the page to check who is signed in. */
export type WorkerMessage =
  | { readonly type: 'event'; readonly event: LiveEvent }
  | { readonly type: 'state'; readonly connection: Connection }
  | { readonly type: 'look' }

const pages = new Set<MessagePort>()
let stream: Stream | undefined
let now: Connection = { state: 'connecting' }

function post(message: WorkerMessage): void {
  for (const page of pages) page.postMessage(message)
}

function open(url: string, after: string | undefined): Stream {
  const session = url.replace(/events$/, 'session')
  return openStream({
    url,
    after,
    onEvent: (event) => post({ type: 'event', event }),
    onState: (connection) => {
      now = connection
      post({ type: 'state', connection })
    },
    async mayConnect(signal) {
      const response = await fetch(session, {
        signal,
        headers: { 'X-Gatehouse': '1', [BACKGROUND_HEADER]: '1' },
      })
      if (!response.ok && response.status !== 401) throw new Error(`answered ${response.status}`)
      const isSignedIn = response.ok && (await response.json()) !== null
      post({ type: 'look' })
      return isSignedIn
    },
  })
}

function join(page: MessagePort, url: string, after: string | undefined): void {
  pages.add(page)
  page.postMessage({ type: 'state', connection: now } satisfies WorkerMessage)
  // Events between `after` and now were forwarded before this page joined.
  if (now.state === 'live' && (after === undefined || after !== stream?.lastId())) {
    page.postMessage({ type: 'event', event: { type: 'reset' } } satisfies WorkerMessage)
  }
  if (stream === undefined) stream = open(url, after)
  else if (now.state !== 'live') stream.tryNow()
}

function leave(page: MessagePort): void {
  pages.delete(page)
  if (pages.size > 0) return
  stream?.pause()
  stream = undefined
  now = { state: 'connecting' }
}

declare const self: { onconnect: ((event: MessageEvent) => void) | null }

self.onconnect = ({ ports: [page] }) => {
  if (page === undefined) return
  page.onmessage = ({ data }: MessageEvent<PageMessage>) => {
    if (data.type === 'open') join(page, data.url, data.after)
    else if (data.type === 'try') stream?.tryNow()
    else leave(page)
  }
}
