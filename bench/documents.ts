import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { makeToken, sendRequest } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import { openLoad } from './load/load.ts'
import {
  CONNECTIONS,
  createPinning,
  get,
  measure,
  post,
  type Rounds,
  ratios,
  type ServerLoad,
  type Slice,
  showRate,
  showSlices,
  showTimes,
} from './load/rounds.ts'
import { quantile } from './load/statistics.ts'
import { CONSTANT_SERVERS, isInstalled, startConstantServer } from './peers/constant-servers.ts'
import { JSON_SERVER, startJsonServer } from './peers/json-server.ts'
import { startBareServer } from './peers/start-peer.ts'
import { count, limitDuration, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { nextHost, portsOf } from './servers/address.ts'
import { startGatehouse, storeEndpoints } from './servers/gatehouse.ts'
import type { Subject } from './servers/process.ts'
import { storeDocuments } from './servers/store-documents.ts'

// Measures reads by id and inserts, compared with bare `node:http` and json-server.
// docs/benchmarks.md explains the measurements.

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    'warm-up': { type: 'string', default: '3000' },
  },
})
const DATABASE = 'library'
/** Port of a node's administration, and port of its documents. */
const [ADMIN = 0] = portsOf(1)
const DATA = ADMIN + 1
const FEW = 1_000
/** Number of documents in comparisons with json-server, which gets slower with each document. */
const COMPARED = 10_000
const MANY = 1_000_000
/**
 * Number of different documents that are read in turn; with {@link MANY} they are spread over all.
 */
const READ = 1_000
/** Number of different documents that exceeds the query cache, so that every read queries the store. */
const UNCACHED = 50_000
/** Rounds with inserts into json-server, whose slices take seconds. */
const JSON_SERVER_INSERTS = 3
const ROUNDS: Omit<Rounds, 'share'> = {
  rounds: Number(options.rounds),
  slice: 400,
  warmUp: Number(options['warm-up']),
}
/** Maximum duration of the run, ms. */
const MAX_DURATION = 10 * 60_000

/** All ids have the same length, and so do all documents. */
const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`
const documentOf = (at: number) => ({ id: idOf(at), ...NEW })
const NEW = { title: 'On the measurement of servers', author: 'ada', year: 2026, tags: ['a', 'b'] }

const WHAT = {
  bare: 'bare node:http, constant JSON',
  nginx: 'nginx, constant JSON',
  caddy: 'Caddy, constant JSON',
  haproxy: 'HAProxy, constant JSON',
  few: `Gatehouse, read by id of ${count(FEW)}`,
  same: `Gatehouse, read by id of ${count(COMPARED)}`,
  many: `Gatehouse, read by id of ${count(MANY)}`,
  any: `Gatehouse, read any of ${count(MANY)}`,
  insert: 'Gatehouse, insert, durable',
  jsonServerRead: `json-server, read by id of ${count(COMPARED)}`,
  jsonServerInsert: 'json-server, insert',
} as const

type Kind = keyof typeof WHAT

/** The first load of each node. */
const FIRST_LOADS: readonly Kind[] = ['few', 'same', 'many', 'insert']
/** Time of load after which V8 has optimized the code of a read or an insert, ms. */
const OPTIMIZED_AFTER = 3_000

/** Starts a node with a database of `size` documents, and an endpoint for that database only. */
async function startNode(size: number) {
  const folder = await storeEndpoints(1)
  const { host, data } = folder
  const first = await startGatehouse(1, folder)
  const token = `Bearer ${await makeToken({ data, databaseUrl: undefined })}`
  const add = async (path: string, body: unknown) => {
    const { status, text } = await sendRequest(ADMIN, 'POST', path, {
      host,
      body,
      headers: { 'Content-Type': 'application/json', Authorization: token },
    })
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`)
  }
  await add('/_api/database', { name: DATABASE })
  await add('/_api/endpoint', { endpoint: `tcp://${host}:${DATA}`, databases: [DATABASE] })
  await first.stop()
  await storeDocuments({ data }, DATABASE, 'articles', size, documentOf)
  const node = await startGatehouse(2, folder)
  return { host, node, token: `Authorization: ${token}\r\n` }
}

async function openLoads(): Promise<Map<Kind, ServerLoad>> {
  const all = new Map<Kind, ServerLoad>()
  const pinning = createPinning()
  print(
    pinning === undefined
      ? 'taskset is not installed, or there is only one core: client and servers share the cores.'
      : 'Servers run on the last core, the client on the others (taskset).',
  )
  const addLoad = (
    kind: Kind,
    server: Pick<Subject, 'process'>,
    host: string,
    requests: string | string[],
  ) => {
    pinning?.pin(server.process)
    const timed = kind === 'insert'
    all.set(kind, {
      openLoad: () => openLoad({ host, port: DATA }, requests, CONNECTIONS, timed),
      server,
      minWarmUp: FIRST_LOADS.includes(kind) ? OPTIMIZED_AFTER : undefined,
    })
  }

  const bare = nextHost()
  const text = JSON.stringify(documentOf(0))
  const bareServer = await startBareServer(bare, DATA, text)
  addLoad('bare', bareServer, bare, get(bare, DATA, `/articles/${idOf(0)}`))

  for (const program of CONSTANT_SERVERS) {
    if (!isInstalled(program)) {
      print(`${program} is not installed and is not measured.`)
      continue
    }
    const { host, server } = await startConstantServer(program, DATA, text)
    addLoad(program, server, host, get(host, DATA, `/articles/${idOf(0)}`))
  }

  const reads = (host: string, size: number, token?: string) =>
    Array.from({ length: READ }, (_, at) =>
      get(host, DATA, `/articles/${idOf(at * (size / READ))}`, token),
    )
  const anyReads = (host: string, token: string) =>
    Array.from({ length: UNCACHED }, () =>
      get(host, DATA, `/articles/${idOf(Math.floor(Math.random() * MANY))}`, token),
    )
  for (const [kind, size] of [
    ['few', FEW],
    ['same', COMPARED],
    ['many', MANY],
  ] as const) {
    const { host, node, token } = await startNode(size)
    addLoad(kind, node, host, reads(host, size, token))
    if (kind === 'many') addLoad('any', node, host, anyReads(host, token))
  }
  const { host, node, token } = await startNode(COMPARED)
  addLoad('insert', node, host, post(host, DATA, '/articles', JSON.stringify(NEW), token))

  const jsonHost = nextHost()
  const articles = Array.from({ length: COMPARED }, (_, at) => documentOf(at))
  const jsonServer = await startJsonServer({ host: jsonHost, port: DATA }, articles)
  if (jsonServer === undefined) {
    print(`json-server ${JSON_SERVER} could not be installed and is not measured.`)
  } else {
    addLoad('jsonServerRead', jsonServer, jsonHost, reads(jsonHost, COMPARED))
    addLoad(
      'jsonServerInsert',
      jsonServer,
      jsonHost,
      post(jsonHost, DATA, '/articles', JSON.stringify(NEW)),
    )
  }
  return all
}

/** Loads that are compared share their rounds. */
interface Group {
  readonly title: string
  readonly kinds: readonly Kind[]
  readonly rounds?: number
  /** See {@link Rounds}. */
  readonly share: number
}

async function measureGroup(
  all: ReadonlyMap<Kind, ServerLoad>,
  { title, kinds, ...rounds }: Group,
): Promise<Map<Kind, Slice[]>> {
  const slices = await measure<Kind>(all, kinds, { ...ROUNDS, ...rounds })
  showSlices(title, slices, WHAT)
  return slices
}

function showCost(what: string, reads: Map<Kind, Slice[]>, kind: Kind, max?: number): void {
  const each = ratios(reads, kind, 'few', 'cost')
  const isMet = max === undefined ? undefined : quantile(each) <= max
  const shown = spread(each, (ratio) => ratio.toFixed(2))
  print(
    `  ${what.padEnd(38)} ${shown.padEnd(26)} ` +
      (isMet === undefined ? '' : `wanted: at most ${max} – ${verdict(isMet)} `) +
      `(by rate ${quantile(ratios(reads, 'few', kind, 'rate')).toFixed(2)})`,
  )
  if (max === undefined) return
  addFigure({ what: `CPU time of a ${what}`, value: shown, target: `at most ${max}`, isMet })
}

function showRatios(
  reads: Map<Kind, Slice[]>,
  inserts: Map<Kind, Slice[]>,
  besideJsonServer: Map<Kind, Slice[]> | undefined,
): void {
  print('Responses per second, compared in the same round:')
  showRate('read : bare node:http', reads, ['few', 'bare'], 0.35, {
    'node:http': 'bare',
    nginx: 'nginx',
    Caddy: 'caddy',
    HAProxy: 'haproxy',
    'json-server': 'jsonServerRead',
  })
  if (reads.has('jsonServerRead')) {
    showRate('read : json-server', reads, ['same', 'jsonServerRead'], 15)
  }
  showRate('insert : bare node:http', inserts, ['insert', 'bare'], 0.12, {
    'node:http': 'bare',
  })
  if (besideJsonServer !== undefined) {
    showRate('insert : json-server', besideJsonServer, ['insert', 'jsonServerInsert'])
  }
  print("The server's CPU time per response, compared in the same round:")
  showCost(`read, ${count(MANY)} : ${count(FEW)}`, reads, 'many', 1.2)
  showCost(`read any of ${count(MANY)} : ${count(FEW)}`, reads, 'any')
  const times = (inserts.get('insert') ?? []).flatMap((each) => each.times)
  showTimes('insert, ms, median (p99)', times, 60)
  print()
}

limitDuration(MAX_DURATION)

printMachine()
const all = await openLoads()
// Otherwise the system writes the documents to the disk during the loads.
execFileSync('sync')
print()
// The system stays busy for a while after inserts, which would slow down later requests.
const reads = await measureGroup(all, {
  title: 'Reads',
  share: 0.6,
  kinds: ['bare', ...CONSTANT_SERVERS, 'few', 'same', 'many', 'any', 'jsonServerRead'],
})
const inserts = await measureGroup(all, {
  title: 'Inserts',
  share: 0.7,
  kinds: ['bare', 'insert'],
})
// json-server leaves writes to the disk, which would delay other inserts.
const besideJsonServer = all.has('jsonServerInsert')
  ? await measureGroup(all, {
      title: 'Inserts of json-server',
      share: 1,
      rounds: JSON_SERVER_INSERTS,
      kinds: ['insert', 'jsonServerInsert'],
    })
  : undefined
showRatios(reads, inserts, besideJsonServer)
printEnd()
// Exiting stops all started processes and removes their files.
process.exit()
