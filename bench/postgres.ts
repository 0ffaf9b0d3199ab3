import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { type NodeProcess, startNodes } from '../server/nodes/integration/node-processes.testing.ts'
import { makeCluster, startServer } from '../server/storage/test-support/postgres-server.testing.ts'
import { killProcesses } from '../server/test-support/server-process.testing.ts'
import { get, post } from './load/rounds.ts'
import { startBareServer, startPeer } from './peers/start-peer.ts'
import { type Kind, LATENCY } from './postgres/loads.ts'
import { measure, type Target } from './postgres/measure.ts'
import { show } from './postgres/show.ts'
import { limitDuration, printEnd, printMachine } from './report.ts'
import { nextHost } from './servers/address.ts'
import { startRemotePort } from './servers/tcp-proxy.ts'

// Measures a node on PostgreSQL: reads by id, pages and inserts, without and with latency between
// node and database, compared with bare `node:http` and with plain Hono and `pg`. PostgreSQL syncs
// its log to the disk. docs/benchmarks.md explains the measurements.
//
//   npm run bench:postgres
//   npm run bench:postgres -- --rounds 3 --only read,bare

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    slice: { type: 'string', default: '500' },
    only: { type: 'string' },
  },
})
const ROUNDS = Number(options.rounds)
const SLICE = Number(options.slice)
const DOCUMENTS = 10_000
/** Number of different documents that are read in turn. */
const READ = 1_000
/** Number of documents on a page. */
const PAGE = 100

const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`
const NEW = { title: 'On the measurement of servers', author: 'ada', year: 2026, tags: ['a', 'b'] }
const documentOf = (at: number) => ({ id: idOf(at), ...NEW })

/** Stores the documents that are read, and the same in a plain table. */
async function fill(node: NodeProcess, url: string): Promise<void> {
  const all = Array.from({ length: DOCUMENTS }, (_, at) => documentOf(at))
  const { status, text } = await node.request('POST', '/articles', all)
  if (status !== 201) throw new Error(`${status}: ${text}`)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create table plain_articles as select id, body from documents`)
  await client.query('alter table plain_articles add primary key (id)')
  await client.query('vacuum analyze')
  await client.end()
}

/** Returns the shortest of 100 round trips to PostgreSQL, ms. */
async function roundTripTo(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let shortest = Infinity
  for (let at = 0; at < 100; at++) {
    const begun = performance.now()
    await client.query('select 1')
    shortest = Math.min(shortest, performance.now() - begun)
  }
  await client.end()
  return shortest
}

limitDuration(10 * 60_000)
printMachine('PostgreSQL with fsync, ')
const cluster = makeCluster()
const { server, port } = await startServer(cluster, { settings: ['fsync=on'] })
const url = `postgres://gatehouse@127.0.0.1:${port}/postgres`
const farUrl = new URL(url)
farUrl.port = String(await startRemotePort(port, LATENCY))
try {
  const urls = [url, farUrl.href]
  const nodes = await startNodes(urls, ['near', 'far'], [], NODE_FLAGS)
  const [node, far] = nodes as [NodeProcess, NodeProcess]
  await fill(node, url)
  const host = nextHost()
  const [barePort = 0, plainPort = 0, farPlainPort = 0] = await freePorts(3)
  const bare = await startBareServer(host, barePort, JSON.stringify(documentOf(0)))
  const startPlain = (port: number, url: string) =>
    startPeer('plain-hono-process.ts', host, String(port), url)
  const plain = await startPlain(plainPort, url)
  const farPlain = await startPlain(farPlainPort, farUrl.href)
  const token = `Authorization: Bearer ${node.token}\r\n`
  const reads = (port: number, headers = '') =>
    Array.from({ length: READ }, (_, at) =>
      get('127.0.0.1', port, `/articles/${idOf(at * (DOCUMENTS / READ))}`, headers),
    )
  const to = ({ port, process: { pid } }: NodeProcess, requests: readonly string[]): Target => ({
    address: { host: '127.0.0.1', port },
    requests,
    pid,
  })
  // Different pages, because equal ones of a batch are read once. All have a next page.
  const pages = Array.from({ length: DOCUMENTS / PAGE - 1 }, (_, at) =>
    get('127.0.0.1', node.port, `/articles?limit=${PAGE}&after=${idOf(at * PAGE)}`, token),
  )
  const insert = ({ port }: NodeProcess) => [
    post('127.0.0.1', port, '/inserted', JSON.stringify(NEW), token),
  ]
  const all: Record<Kind, Target> = {
    bare: { address: { host, port: barePort }, requests: reads(barePort), pid: bare.process.pid },
    plain: {
      address: { host, port: plainPort },
      requests: reads(plainPort),
      pid: plain.process.pid,
    },
    farPlain: {
      address: { host, port: farPlainPort },
      requests: reads(farPlainPort),
      pid: farPlain.process.pid,
    },
    read: to(node, reads(node.port, token)),
    farRead: to(far, reads(far.port, token)),
    page: to(node, pages),
    insert: to(node, insert(node)),
    farInsert: to(far, insert(far)),
    manyReads: to(node, reads(node.port, token)),
    manyFarReads: to(far, reads(far.port, token)),
    manyInserts: to(node, insert(node)),
    manyFarInserts: to(far, insert(far)),
  }
  const only = options.only?.split(',')
  const chosen = Object.entries(all).filter(([kind]) => only?.includes(kind) ?? true)
  const targets = new Map(chosen as [Kind, Target][])
  const roundTrip = await roundTripTo(farUrl.href)
  show(await measure(targets, server.pid, { rounds: ROUNDS, slice: SLICE }), roundTrip)
  printEnd()
} finally {
  await killProcesses()
  const ended = once(server, 'close')
  server.kill('SIGINT')
  await ended
  rmSync(cluster.home, { recursive: true, force: true })
}
process.exit(0)
