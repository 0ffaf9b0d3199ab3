// The one stream of live events of a browser: a shared worker, which passes on to every page what it
// hears. It ends with the last of them.

import type { LiveEvent } from '../../server/contract/event.ts'
import { BACKGROUND_HEADER } from '../../server/contract/session-use.ts'
import { type Connection, openStream, type Stream } from './live-connection.ts'

/** What a page tells the worker. */
export type ToWorker =
  | { readonly type: 'open'; readonly url: string }
  | { readonly type: 'try' | 'close' }

/** What the worker tells a page; `look`: it is to look who is signed in. */
export type FromWorker =
  | { readonly type: 'event'; readonly event: LiveEvent }
  | { readonly type: 'state'; readonly connection: Connection }
  | { readonly type: 'look' }

const pages = new Set<MessagePort>()
let stream: Stream | undefined
let now: Connection = { state: 'connecting' }

function tell(message: FromWorker): void {
  for (const page of pages) page.postMessage(message)
}

function open(url: string): Stream {
  const session = url.replace(/events$/, 'session')
  return openStream({
    url,
    onEvent: (event) => tell({ type: 'event', event }),
    onState: (connection) => {
      now = connection
      tell({ type: 'state', connection })
    },
    async mayConnect() {
      const answer = await fetch(session, {
        headers: { 'X-Gatehouse': '1', [BACKGROUND_HEADER]: '1' },
      })
      if (!answer.ok && answer.status !== 401) throw new Error(`answered ${answer.status}`)
      const somebody = answer.ok && (await answer.json()) !== null
      tell({ type: 'look' })
      return somebody
    },
  })
}

function join(page: MessagePort, url: string): void {
  pages.add(page)
  page.postMessage({ type: 'state', connection: now } satisfies FromWorker)
  // What it has read before it joined may have changed since.
  if (now.state === 'live') {
    page.postMessage({ type: 'event', event: { type: 'reset' } } satisfies FromWorker)
  }
  if (stream === undefined) stream = open(url)
  else if (now.state !== 'live') stream.tryNow()
}

function leave(page: MessagePort): void {
  pages.delete(page)
  if (pages.size > 0) return
  stream?.rest()
  stream = undefined
  now = { state: 'connecting' }
}

declare const self: { onconnect: ((event: MessageEvent) => void) | null }

self.onconnect = ({ ports: [page] }) => {
  if (page === undefined) return
  page.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.type === 'open') join(page, data.url)
    else if (data.type === 'try') stream?.tryNow()
    else leave(page)
  }
}
