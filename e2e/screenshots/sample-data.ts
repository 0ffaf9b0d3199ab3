import { mkdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { SAMPLE_SECONDS, SAMPLES } from '../../server/contract/endpoints/traffic.ts'
import type { GatehouseProcess } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'

/** A server with endpoints in every state and with traffic. */
export interface SampleData {
  /** An endpoint with three databases and traffic. */
  readonly shop: string
  /** An endpoint that reaches only blog. */
  readonly blog: string
  /** An endpoint whose port another program uses. */
  readonly failed: string
  readonly unix: string
  /** An endpoint with an address that is too long for its column. */
  readonly long: string
  /** Closes the connections and listeners of the sample data. */
  close(): Promise<void>
}

const SYSTEM = '/_db/_system/_api'
const STORED = ['blog', 'shop', 'archive', 'metrics', 'news', 'tickets']

/**
 * Fills a server with databases, documents and endpoints. Each worker has its own addresses.
 *
 * @param worker Playwright's `parallelIndex`
 */
export async function createSampleData(
  gatehouse: GatehouseProcess,
  worker: number,
): Promise<SampleData> {
  const host = `127.20.${worker}.4`
  const other = `127.20.${worker}.5`
  const shop = `tcp://${host}:8531`
  const blog = `tcp://${host}:8530`
  const failed = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await mkdir(path.join(gatehouse.data, 'sockets'), { recursive: true })
  const unix = `unix://${path.join(gatehouse.data, 'sockets', 'gatehouse.sock')}`
  const long = `unix://${path.join(gatehouse.data, 'sockets', 'north', 'tickets.sock')}`
  for (const name of STORED) await gatehouse.post(`${SYSTEM}/database`, { name })
  const mappings: readonly [string, readonly string[]][] = [
    [blog, ['blog']],
    [shop, ['shop', 'archive', 'metrics']],
    [`tcp://${host}:8532`, ['news', 'blog', 'archive', 'metrics', 'tickets', 'shop']],
    [`tcp://${host}:8533`, ['tickets', 'later']],
    [`tcp://${other}:8534`, ['shop', 'archive', 'metrics']],
    [`tcp://${other}:8535`, ['metrics']],
    [`tcp://localhost:${await gatehouse.freePort()}`, ['blog', 'news']],
    [`tcp://[::1]:${await gatehouse.freePort()}`, ['archive']],
    [failed, ['tickets']],
    [unix, ['_system']],
  ]
  for (const [endpoint, databases] of mappings) {
    const { status, body } = await gatehouse.post(`${SYSTEM}/endpoint`, { endpoint, databases })
    if (status !== 200) throw new Error(`${endpoint}: ${JSON.stringify(body)}`)
  }
  await writeDocuments(gatehouse)

  // The port is taken while the server is stopped.
  await gatehouse.stop()
  const taken = await listen(Number(failed.split(':').at(-1)))
  await gatehouse.restart()
  const sockets = await Promise.all(
    [...Array<number>(12).fill(8531), ...Array<number>(3).fill(8530), 8532].map((port) =>
      openConnection(host, port),
    ),
  )
  const url = shop.replace('tcp', 'http')
  for (let n = 0; n < 30; n += 1) await gatehouse.get(`${url}/orders`)
  await gatehouse.get(`${blog.replace('tcp', 'http')}/articles`)
  return {
    shop,
    blog,
    failed,
    unix,
    long,
    async close() {
      for (const socket of sockets) socket.destroy()
      await taken.close()
    },
  }
}

async function writeDocuments(gatehouse: GatehouseProcess): Promise<void> {
  const authors = ['ada', 'grace', 'edsger', 'barbara']
  const articles = Array.from({ length: 240 }, (_, at) => ({
    id: `2026-${String(at + 1).padStart(3, '0')}`,
    title: `Notes on sockets, part ${at + 1}`,
    author: authors[at % authors.length],
    tags: at % 3 === 0 ? ['network', 'draft'] : ['network'],
    words: 400 + ((at * 37) % 900),
  }))
  await gatehouse.post('/_db/blog/articles', articles)
  await gatehouse.post('/_db/blog/authors', [{ id: 'ada', name: 'Ada Lovelace' }])
  await gatehouse.post('/_db/shop/orders', [
    { id: 'a-1001', total: 42.5, items: [{ sku: 'lamp', count: 1 }] },
    { id: 'a-1002', total: 12, items: [{ sku: 'rope', count: 4 }] },
  ])
}

/** Keeps a connection open, without a request. */
async function openConnection(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/**
 * Responds to traffic requests with an hour of generated data, identical in each run and with a gap
 * of unknown samples.
 */
export async function fakeTrafficHistory(page: Page): Promise<void> {
  const wave = (at: number, period: number) => 1 + Math.sin((at / period) * Math.PI * 2)
  const series = (of: (at: number) => number) =>
    Array.from({ length: SAMPLES }, (_, at) =>
      at < 60 || (at > 400 && at < 430) ? null : Math.round(of(at)),
    )
  const requests = (at: number) => 90 * wave(at, 360) + 25 * wave(at, 37) + ((at * 7919) % 23)
  await page.route('**/_api/listener/traffic?*', async (route) => {
    const response = await route.fetch()
    const traffic = await response.json()
    traffic.nodes = [
      {
        node: traffic.nodes?.[0]?.node ?? 'gate-1',
        requests: series(requests),
        errors: series((at) => (at > 520 && at < 560 ? (at * 31) % 40 : (at * 31) % 3)),
        bytesIn: series((at) => requests(at) * 420),
        bytesOut: series((at) => requests(at) * 2_600),
        connections: series((at) => 8 + 4 * wave(at, 200)),
      },
    ]
    traffic.sampleSeconds = SAMPLE_SECONDS
    await route.fulfill({ response: response, json: traffic })
  })
  const recent = (seed: number) =>
    Array.from({ length: 12 }, (_, at) => (at < 1 ? null : ((at * 13 + seed) % 17) + (seed % 7)))
  await page.route('**/_api/listener?*', async (route) => {
    const response = await route.fetch()
    const rows: {
      state: string
      recent?: unknown
      endpoint: string
      lastRequest: unknown
      requestsPerSecond: number
    }[] = await response.json()
    for (const [at, row] of rows.entries()) {
      if (row.state !== 'listening' || row.lastRequest === null || row.recent === undefined)
        continue
      const line = recent(at * 5)
      row.recent = line
      row.requestsPerSecond = line.at(-1) ?? 0
    }
    await route.fulfill({ response: response, json: rows })
  })
}
