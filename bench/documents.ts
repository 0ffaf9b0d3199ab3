import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createDocumentRepository } from '../server/documents/repository/repository.ts'
import { openStore } from '../server/storage/open.ts'
import { ask, makeToken } from '../server/test-support/start.testing.ts'
import { type Load, openLoad } from './load.ts'
import {
  answers,
  makeFolder,
  nextHost,
  portsOf,
  processorTime,
  quantile,
  type Subject,
  shuffled,
  startGatehouse,
  startProcess,
  storeEndpoints,
} from './support.ts'

// Measures reads by id and inserts, compared with bare `node:http` and json-server.
// docs/benchmarks.md explains the measurements.

const JSON_SERVER = '0.17.4'
const DATABASE = 'library'
/** Port of a node's administration, and port of its documents. */
const [ADMIN = 0] = portsOf(1)
const DATA = ADMIN + 1
const FEW = 1_000
/** Number of documents in comparisons with json-server, which gets slower with each document. */
const SAME = 10_000
const MANY = 1_000_000
/** Number of documents stored in one transaction. */
const INSERT_BATCH = 10_000
/**
 * Number of different documents that are read in turn; with {@link MANY} they are spread over all.
 */
const READ = 1_000
/** More than a node caches, so that every read queries the store. */
const ANY = 50_000
const CONNECTIONS = 64
/** Rounds, each with a slice of every load of a group in random order, and slice duration, ms. */
const ROUNDS = 30
const SLICE = 400
/** A server is idle once it uses no processor time for this time, ms. */
const RESTING = 50
/** Warm-up of each load before rounds count, ms. */
const WARM_UP = 3_000
/** Maximum duration of the run, ms. */
const MAX_DURATION = 10 * 60_000

const print = (line = '') => process.stdout.write(`${line}\n`)
const count = (number: number) => Math.round(number).toLocaleString('en')
const spread = (numbers: readonly number[], show: (number: number) => string) =>
  `${show(quantile(numbers))} (${show(quantile(numbers, 0.25))}–${show(quantile(numbers, 0.75))})`

/** All ids have the same length, and so do all documents. */
const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`
const documentOf = (at: number) => ({ id: idOf(at), ...NEW })
const NEW = { title: 'On the measurement of servers', author: 'ada', year: 2026, tags: ['a', 'b'] }

const WHAT = {
  bare: 'bare node:http, constant JSON',
  few: `Gatehouse, read by id of ${count(FEW)}`,
  same: `Gatehouse, read by id of ${count(SAME)}`,
  many: `Gatehouse, read by id of ${count(MANY)}`,
  any: `Gatehouse, read any of ${count(MANY)}`,
  insert: 'Gatehouse, insert, durable',
  jsonServerRead: `json-server, read by id of ${count(SAME)}`,
  jsonServerInsert: 'json-server, insert',
} as const

type Kind = keyof typeof WHAT

/** A load, and the process that serves it. */
interface Asked {
  /** Opens new connections per slice: some servers close idle ones between slices. */
  readonly openLoad: () => Promise<Load>
  readonly server: Pick<Subject, 'process'>
}

/** The results of one load in one round. */
interface Slice {
  /** Responses per second. */
  readonly rate: number
  /** Processor time of the server per response, µs. */
  readonly cost: number
  readonly times: readonly number[]
}

/**
 * Pins all servers to one core and this process to the others; undefined if that is not possible.
 */
function createPinning(): ((process: Subject['process']) => void) | undefined {
  const last = availableParallelism() - 1
  const pin = (cores: string, pid: number | undefined) =>
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)])
  try {
    if (last === 0) return undefined
    pin(`0-${last - 1}`, process.pid)
    return ({ pid }) => void pin(String(last), pid)
  } catch {
    return undefined
  }
}

const get = (host: string, port: number, path: string, token = '') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${token}\r\n`

const post = (host: string, port: number, path: string, token = '') => {
  const body = JSON.stringify(NEW)
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return `POST ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${token}${type}\r\n${body}`
}

/** Starts a node with a database of `size` documents, and an endpoint for that database only. */
async function startNode(size: number) {
  const folder = await storeEndpoints(1)
  const { host, data } = folder
  const first = await startGatehouse(1, folder)
  const token = `Bearer ${await makeToken({ data, databaseUrl: undefined })}`
  const add = async (path: string, body: unknown) => {
    const { status, text } = await ask(ADMIN, 'POST', path, {
      host,
      body,
      headers: { 'Content-Type': 'application/json', Authorization: token },
    })
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`)
  }
  await add('/_api/database', { name: DATABASE })
  await add('/_api/endpoint', { endpoint: `tcp://${host}:${DATA}`, databases: [DATABASE] })
  await first.stop()
  await fill(data, size)
  const node = await startGatehouse(2, folder)
  return { host, node, token: `Authorization: ${token}\r\n` }
}

/** Stores documents directly, without the API, many in each transaction. */
async function fill(data: string, size: number): Promise<void> {
  const store = await openStore({ data }, 'tool')
  const { id: database } = await store.db
    .selectFrom('databases')
    .select('id')
    .where('name', '=', DATABASE)
    .executeTakeFirstOrThrow()
  const repository = createDocumentRepository(store)
  for (let from = 0; from < size; from += INSERT_BATCH) {
    const some = Array.from({ length: Math.min(INSERT_BATCH, size - from) }, (_, at) => ({
      id: idOf(from + at),
      body: JSON.stringify(documentOf(from + at)),
    }))
    await repository.insert({ database, collection: 'articles' }, some)
  }
  await store.close()
}

/**
 * Installs json-server into a folder of the run and starts it; undefined if it cannot be installed.
 */
async function startJsonServer(host: string) {
  const folder = makeFolder('json-server')
  const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--silent', '--ignore-scripts']
  try {
    execFileSync('npm', ['install', ...flags, `json-server@${JSON_SERVER}`], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 120_000,
    })
  } catch {
    return undefined
  }
  const file = join(folder, 'articles.json')
  const articles = Array.from({ length: SAME }, (_, at) => documentOf(at))
  writeFileSync(file, JSON.stringify({ articles }))
  const cli = join(folder, 'node_modules', 'json-server', 'lib', 'cli', 'bin.js')
  // With default logging, like Gatehouse: with --quiet it is a third faster.
  const listen = ['--host', host, '--port', String(DATA)]
  return startProcess(process.execPath, [cli, ...listen, file], process.env, () =>
    answers(host, DATA, `/articles/${idOf(0)}`),
  )
}

async function open(): Promise<Map<Kind, Asked>> {
  const all = new Map<Kind, Asked>()
  const pin = createPinning()
  print(
    pin === undefined
      ? 'taskset is not there, or there is one core: client and servers share what there is.'
      : 'Every server has the last core, the client the others (taskset).',
  )
  const asked = (
    kind: Kind,
    server: Pick<Subject, 'process'>,
    host: string,
    requests: string | string[],
  ) => {
    pin?.(server.process)
    const timed = kind === 'insert'
    all.set(kind, {
      openLoad: () => openLoad({ host, port: DATA }, requests, CONNECTIONS, timed),
      server,
    })
  }

  const bare = nextHost()
  const constant = join(import.meta.dirname, 'constant-process.ts')
  const text = JSON.stringify(documentOf(0))
  const bareServer = await startProcess(
    process.execPath,
    [constant, bare, String(DATA), text],
    process.env,
    async (printed) => printed().includes('ready'),
  )
  asked('bare', bareServer, bare, get(bare, DATA, `/articles/${idOf(0)}`))

  const reads = (host: string, size: number, token?: string) =>
    Array.from({ length: READ }, (_, at) =>
      get(host, DATA, `/articles/${idOf(at * (size / READ))}`, token),
    )
  const anyReads = (host: string, token: string) =>
    Array.from({ length: ANY }, () =>
      get(host, DATA, `/articles/${idOf(Math.floor(Math.random() * MANY))}`, token),
    )
  for (const [kind, size] of [
    ['few', FEW],
    ['same', SAME],
    ['many', MANY],
  ] as const) {
    const { host, node, token } = await startNode(size)
    asked(kind, node, host, reads(host, size, token))
    if (kind === 'many') asked('any', node, host, anyReads(host, token))
  }
  const { host, node, token } = await startNode(SAME)
  asked('insert', node, host, post(host, DATA, '/articles', token))

  const jsonHost = nextHost()
  const jsonServer = await startJsonServer(jsonHost)
  if (jsonServer === undefined) {
    print(`json-server ${JSON_SERVER} could not be installed: left out.`)
  } else {
    asked('jsonServerRead', jsonServer, jsonHost, reads(jsonHost, SAME))
    asked('jsonServerInsert', jsonServer, jsonHost, post(jsonHost, DATA, '/articles'))
  }
  return all
}

async function slice({ openLoad, server }: Asked, duration: number): Promise<Slice> {
  const load = await openLoad()
  const before = processorTime(server)
  const { answers, time, times } = await load.run(duration)
  const cost = (processorTime(server) - before) / answers
  load.close()
  await rest(server)
  return { rate: (answers / time) * 1000, cost, times }
}

/** Waits until a server is idle, so that the next one has the core to itself. */
async function rest(server: Asked['server']): Promise<void> {
  for (let before = processorTime(server); ; ) {
    await pause(RESTING)
    const now = processorTime(server)
    if (now === before) return
    before = now
  }
}

/**
 * Loads that are compared share their rounds. Reads come first: the system stays busy for a while
 * after inserts, which would slow down later requests.
 */
const GROUPS = [
  { title: 'Reads', kinds: ['bare', 'few', 'same', 'many', 'any', 'jsonServerRead'] },
  { title: 'Inserts', kinds: ['bare', 'insert', 'jsonServerInsert'] },
] as const satisfies readonly { title: string; kinds: readonly Kind[] }[]

async function measure(all: Map<Kind, Asked>, group: readonly Kind[]): Promise<Map<Kind, Slice[]>> {
  const kinds = group.filter((kind) => all.has(kind))
  const slices = new Map(kinds.map((kind): [Kind, Slice[]] => [kind, []]))
  for (const kind of kinds) await slice(all.get(kind) as Asked, WARM_UP)
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of shuffled(kinds.length)) {
      const kind = kinds[at] as Kind
      slices.get(kind)?.push(await slice(all.get(kind) as Asked, SLICE))
    }
  }
  return slices
}

function showSlices(title: string, slices: Map<Kind, Slice[]>): void {
  const head = `${title}, ${CONNECTIONS} connections; median (quartiles) of ${ROUNDS} rounds`
  print(`${head.padEnd(60)} per second, µs of the server's processor`)
  for (const [kind, each] of slices) {
    const rates = spread(
      each.map(({ rate }) => rate),
      count,
    )
    const costs = spread(
      each.map(({ cost }) => cost),
      (cost) => cost.toFixed(1),
    )
    print(`  ${WHAT[kind].padEnd(38)} ${rates.padEnd(26)} ${costs}`)
  }
  print()
}

/** Returns the ratio of two loads in each round. */
const ratios = (slices: Map<Kind, Slice[]>, kind: Kind, to: Kind, of: 'rate' | 'cost') =>
  (slices.get(kind) ?? []).map(
    (each, round) => each[of] / (slices.get(to)?.[round]?.[of] ?? Number.NaN),
  )

function showRate(
  what: string,
  slices: Map<Kind, Slice[]>,
  [kind, to]: readonly [Kind, Kind],
  least?: number,
): void {
  const each = ratios(slices, kind, to, 'rate')
  const byCost = quantile(ratios(slices, to, kind, 'cost'))
  const met = quantile(each) >= (least ?? 0) ? 'met' : 'NOT MET'
  print(
    `  ${what.padEnd(38)} ${spread(each, (ratio) => ratio.toFixed(2)).padEnd(26)} ` +
      (least === undefined ? '' : `wanted: at least ${least} – ${met} `) +
      `(by processor time ${byCost.toFixed(2)})`,
  )
}

function showCost(what: string, reads: Map<Kind, Slice[]>, kind: Kind, most?: number): void {
  const each = ratios(reads, kind, 'few', 'cost')
  const met = quantile(each) <= (most ?? Infinity) ? 'met' : 'NOT MET'
  print(
    `  ${what.padEnd(38)} ${spread(each, (ratio) => ratio.toFixed(2)).padEnd(26)} ` +
      (most === undefined ? '' : `wanted: at most ${most} – ${met} `) +
      `(by rate ${quantile(ratios(reads, 'few', kind, 'rate')).toFixed(2)})`,
  )
}

function showRatios(reads: Map<Kind, Slice[]>, inserts: Map<Kind, Slice[]>): void {
  print('Answers per second, one against the other in the same round:')
  showRate('read : bare node:http', reads, ['few', 'bare'], 0.35)
  if (reads.has('jsonServerRead')) {
    showRate('read : json-server', reads, ['same', 'jsonServerRead'], 15)
  }
  showRate('insert : bare node:http', inserts, ['insert', 'bare'], 0.12)
  if (inserts.has('jsonServerInsert')) {
    showRate('insert : json-server', inserts, ['insert', 'jsonServerInsert'])
  }
  print("The server's processor time, likewise:")
  showCost(`read, ${count(MANY)} : ${count(FEW)}`, reads, 'many', 1.2)
  showCost(`read any of ${count(MANY)} : ${count(FEW)}`, reads, 'any')
  const times = (inserts.get('insert') ?? []).flatMap((each) => each.times)
  const p99 = quantile(times, 0.99)
  print(
    `  ${'insert, ms, median (p99)'.padEnd(38)} ` +
      `${`${quantile(times).toFixed(1)} (${p99.toFixed(1)})`.padEnd(26)} wanted: p99 under 60 – ` +
      `${p99 < 60 ? 'met' : 'NOT MET'}`,
  )
  print()
}

setTimeout(() => {
  process.stderr.write('The run took too long and was given up.\n')
  process.exit(1)
}, MAX_DURATION).unref()

const begun = performance.now()
const machineLoad = () => (loadavg()[0] ?? 0).toFixed(1)
print(
  `Node.js ${process.version}, ${availableParallelism()} cores, load ${machineLoad()} at the begin`,
)
const all = await open()
print()
const measured: Map<Kind, Slice[]>[] = []
for (const { title, kinds } of GROUPS) {
  const slices = await measure(all, kinds)
  showSlices(title, slices)
  measured.push(slices)
}
const [reads = new Map(), inserts = new Map()] = measured
showRatios(reads, inserts)
print(`${Math.round((performance.now() - begun) / 1000)} s, load ${machineLoad()} at the end`)
// Exiting stops all started processes and removes their files.
process.exit()
