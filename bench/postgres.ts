import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { type NodeProcess, startNodes } from '../server/nodes/integration/node-processes.testing.ts'
import { makeCluster, startServer } from '../server/storage/test-support/postgres-server.testing.ts'
import { startTcpProxy } from '../server/storage/test-support/tcp-proxy.testing.ts'
import { killProcesses } from '../server/test-support/server-process.testing.ts'
import { addFigure } from './figures.ts'
import { openLoad } from './load/load.ts'
import { CONNECTIONS, constantProcess, get, post } from './load/rounds.ts'
import { quantile, shuffled } from './load/statistics.ts'
import { count, limitDuration, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { nextHost } from './servers/address.ts'
import { startProcess } from './servers/process.ts'

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
const WARM_UP = 1_500
/** Round trip that the proxy adds, ms. */
const LATENCY = 5
const DOCUMENTS = 10_000
/** Number of different documents that are read in turn. */
const READ = 1_000

const KINDS = {
  bare: 'bare node:http, constant JSON',
  plain: 'plain Hono and pg, read by id',
  read: 'Gatehouse, read by id',
  far: `Gatehouse, read by id, ${LATENCY} ms to PostgreSQL`,
  page: 'Gatehouse, page of 100',
  insert: 'Gatehouse, insert',
  farInsert: `Gatehouse, insert, ${LATENCY} ms to PostgreSQL`,
} as const
type Kind = keyof typeof KINDS

/** Rates that are compared, and the ratio wanted. */
const TARGETS = [
  ['read', 'bare', 0.35],
  ['insert', 'bare', 0.12],
  ['page', 'bare', 0.04],
  ['read', 'plain', 2],
  ['far', 'read', 0.5],
  ['farInsert', 'insert', 0.5],
] as const satisfies readonly (readonly [Kind, Kind, number])[]

/** What the 99th percentile of an insert must stay below, ms. */
const INSERT_P99 = 30

const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`
const NEW = { title: 'On the measurement of servers', author: 'ada', year: 2026, tags: ['a', 'b'] }
const documentOf = (at: number) => ({ id: idOf(at), ...NEW })

interface Target {
  readonly address: { readonly host: string; readonly port: number }
  readonly requests: readonly string[]
  readonly pid: number | undefined
}

interface Slice {
  readonly rate: number
  /** Processor time per response of the server, and of PostgreSQL, µs. */
  readonly cost: number
  readonly databaseCost: number
  readonly times: readonly number[]
}

/** Returns the processor time of a process, µs, including its children that have exited. */
function timeOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 10_000
}

const childrenOf = (pid: number | undefined): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

async function measure(
  targets: ReadonlyMap<Kind, Target>,
  databaseTime: () => number,
): Promise<Map<Kind, Slice[]>> {
  const kinds = [...targets.keys()]
  const slices = new Map(kinds.map((kind): [Kind, Slice[]] => [kind, []]))
  const run = async (kind: Kind, duration: number): Promise<Slice> => {
    const { address, requests, pid } = targets.get(kind) as Target
    const timed = kind === 'insert' || kind === 'farInsert'
    const load = await openLoad(address, requests, CONNECTIONS, timed)
    const before = [timeOf(pid), databaseTime()] as const
    const { answers, time, times } = await load.run(duration)
    const cost = (timeOf(pid) - before[0]) / answers
    const databaseCost = (databaseTime() - before[1]) / answers
    load.close()
    await pause(50)
    return { rate: (answers / time) * 1000, cost, databaseCost, times }
  }
  for (const kind of kinds) await run(kind, WARM_UP)
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of shuffled(kinds.length)) {
      const kind = kinds[at] as Kind
      slices.get(kind)?.push(await run(kind, SLICE))
    }
  }
  return slices
}

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

const rateOf = ({ rate }: Slice) => rate
const ratiosOf = (each: readonly Slice[], to: readonly Slice[] = []) =>
  each.map(({ rate }, round) => rate / (to[round]?.rate ?? Number.NaN))

/** Returns the cost on a busy machine: the shortest slices were interrupted least. */
const costOf = (each: readonly Slice[], cost: 'cost' | 'databaseCost') =>
  quantile(
    each.map((slice) => slice[cost]),
    0.1,
  ).toFixed(1)

function show(slices: ReadonlyMap<Kind, readonly Slice[]>): void {
  print()
  print(`| ${CONNECTIONS} connections | per second | server, µs | PostgreSQL, µs | p99, ms |`)
  print('|---|---:|---:|---:|---:|')
  for (const [kind, each] of slices) {
    const times = each.flatMap((slice) => slice.times)
    const p99 = times.length === 0 ? '' : quantile(times, 0.99).toFixed(1)
    const costs = `${costOf(each, 'cost')} | ${costOf(each, 'databaseCost')}`
    print(`| ${KINDS[kind]} | ${spread(each.map(rateOf), count)} | ${costs} | ${p99} |`)
  }
  const times = (slices.get('insert') ?? []).flatMap((slice) => slice.times)
  if (times.length > 0) {
    const p99 = quantile(times, 0.99)
    const [value, isMet] = [p99.toFixed(1), p99 < INSERT_P99]
    const what = 'PostgreSQL: insert, p99, ms'
    addFigure({ what, value, target: `under ${INSERT_P99}`, isMet })
  }
  print()
  print('| in the same round | ratio | target |')
  print('|---|---:|---|')
  for (const [kind, to, target] of TARGETS) {
    const each = slices.get(kind)
    if (each === undefined || !slices.has(to)) continue
    const ratios = ratiosOf(each, slices.get(to))
    const isMet = quantile(ratios) >= target
    const what = `${KINDS[kind]} : ${KINDS[to]}`
    const value = spread(ratios, (ratio) => ratio.toFixed(3))
    print(`| ${what} | ${value} | ${target}: ${verdict(isMet)} |`)
    addFigure({ what: `PostgreSQL: ${what}`, value, target: `at least ${target}`, isMet })
  }
}

limitDuration(10 * 60_000)
printMachine('PostgreSQL with fsync, ')
const cluster = makeCluster()
const { server, port } = await startServer(cluster, { settings: ['fsync=on'] })
const url = `postgres://gatehouse@127.0.0.1:${port}/postgres`
const proxy = await startTcpProxy(port)
const farUrl = new URL(url)
farUrl.port = String(proxy.port)
try {
  const [node, far] = (await startNodes([url, farUrl.href], ['near', 'far'])) as [
    NodeProcess,
    NodeProcess,
  ]
  await fill(node, url)
  proxy.delay(LATENCY)
  const host = nextHost()
  const [barePort = 0, plainPort = 0] = await freePorts(2)
  const ready = async (printed: () => string) => printed().includes('ready')
  const bare = await startProcess(
    process.execPath,
    [...constantProcess(host, barePort, JSON.stringify(documentOf(0)))],
    process.env,
    ready,
  )
  const plain = await startProcess(
    process.execPath,
    [
      new URL('peers/plain-hono-process.ts', import.meta.url).pathname,
      host,
      String(plainPort),
      url,
    ],
    process.env,
    ready,
  )
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
  const page = `/articles?limit=100`
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
    read: to(node, reads(node.port, token)),
    far: to(far, reads(far.port, token)),
    page: to(node, [get('127.0.0.1', node.port, page, token)]),
    insert: to(node, insert(node)),
    farInsert: to(far, insert(far)),
  }
  const only = options.only?.split(',')
  const chosen = Object.entries(all).filter(([kind]) => only?.includes(kind) ?? true)
  const targets = new Map(chosen as [Kind, Target][])
  const databaseTime = () =>
    [server.pid, ...childrenOf(server.pid)].reduce((sum: number, pid) => sum + timeOf(pid), 0)
  show(await measure(targets, databaseTime))
  printEnd()
} finally {
  await killProcesses()
  await proxy.close()
  server.kill('SIGINT')
}
process.exit(0)
