import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { SECRETS } from '../server/nodes/integration/node-processes.testing.ts'
import { openStore, type StoreLocation } from '../server/storage/open.ts'
import { makeToken, sendRequest } from '../server/test-support/start.testing.ts'
import { addFigure, beginSection } from './figures.ts'
import { openLoad } from './load/load.ts'
import {
  CONNECTIONS,
  constantProcess,
  createPinning,
  get,
  measure,
  post,
  type ServerLoad,
  type Slice,
  showRate,
  showSlices,
  showTimes,
} from './load/rounds.ts'
import { installJsonServer } from './peers/json-server.ts'
import { count, print, printEnd, printMachine, verdict } from './report.ts'
import { nextHost, FIRST_PORT as PORT, respondsOk } from './servers/address.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'
import { type Subject, startProcess } from './servers/process.ts'

// Measures queries that indexes serve, scans beside readers, and inserts into a collection with
// indexes, on both engines. docs/benchmarks.md explains the measurements.
//
//   npm run bench:queries
//   npm run bench:queries -- --documents 20000 --rounds 3 --engine sqlite

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '30' },
    engine: { type: 'string', default: 'both' },
  },
})
const MANY = Number(options.documents)
const ROUNDS = { rounds: Number(options.rounds), slice: 400, warmUp: 2_000 }
const SMALL = 10_000
/** Number of documents with the same author. */
const BY_AUTHOR = 20
/** Number of different queries that a load sends in turn. */
const QUERIES = 1_000
/** Number of documents in a statement that fills a table. */
const BATCH = 1_000
/** How long readers are measured beside a scan and without one, ms. */
const READING = 5_000
/** Period of the inserts beside a build, ms. */
const INSERT_PERIOD = 10
/** Numbers have the same number of digits, so that responses have the same length. */
const FIRST = 1_000_000

const WHAT = {
  bare: 'bare node:http, constant JSON',
  equality: `equality, page of 10 of ${count(MANY)}`,
  range: `range and sort, page of 100 of ${count(MANY)}`,
  insert: 'insert',
  insertIndexed: 'insert, 3 indexes',
  small: `filter and sort ${count(SMALL)}`,
  jsonServer: `json-server, filter and sort ${count(SMALL)}`,
  plainEquality: 'pg, equality, page of 10',
  plainRange: 'pg, range and sort, page of 100',
} as const

type Kind = keyof typeof WHAT

const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`
const authorOf = (at: number, size: number) =>
  `a${String(at % Math.ceil(size / BY_AUTHOR)).padStart(6, '0')}`
const documentOf = (at: number, size: number) => ({
  id: idOf(at),
  title: 'On the measurement of servers',
  author: authorOf(at, size),
  n: FIRST + at,
  tags: ['a', 'b'],
})
const { id: _, ...NEW } = documentOf(0, MANY)
const queriesOf = (query: (at: number) => string, size: number) =>
  Array.from({ length: QUERIES }, (_, nth) => query(Math.floor((nth * size) / QUERIES)))

/** A node, and how to send requests to it. */
interface Node {
  readonly host: string
  readonly server: Pick<Subject, 'process' | 'stop'>
  /** The header `Authorization` as text. */
  readonly token: string
  readonly call: (method: string, path: string, body?: unknown) => ReturnType<typeof sendRequest>
}

async function startNode(location: StoreLocation): Promise<Node> {
  const host = nextHost()
  const store =
    'data' in location ? ['--data', location.data] : ['--database-url', location.databaseUrl]
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'))
  const main = join(import.meta.dirname, '..', 'server', 'main.ts')
  const server = await startProcess(
    process.execPath,
    [...NODE_FLAGS, main, 'start', ...store, '--endpoint', `tcp://${host}:${PORT}`, '--drain', '1'],
    { ...Object.fromEntries(env), ...('data' in location ? {} : SECRETS) },
    async (printed) => printed().includes('gatehouse is ready'),
  )
  const token = `Bearer ${await makeToken({ data: '', databaseUrl: undefined, ...location })}`
  return {
    ...{ host, server, token: `Authorization: ${token}\r\n` },
    async call(method, path, body) {
      const headers = { 'Content-Type': 'application/json', Authorization: token }
      const answer = await sendRequest(PORT, method, path, { host, body, headers })
      if (answer.status < 300) return answer
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    },
  }
}

/** Stores documents directly, without the API. */
async function fill(location: StoreLocation, collection: string, size: number): Promise<void> {
  const store = await openStore(location, 'tool')
  const { id: database } = await store.db
    .selectFrom('databases')
    .select('id')
    .where('name', '=', 'library')
    .executeTakeFirstOrThrow()
  for (let from = 0; from < size; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, size - from) }, (_, at) => {
      const document = documentOf(from + at, size)
      const tag = `tag-${collection}-${String(from + at).padStart(8, '0')}`
      return { database, collection, id: document.id, tag, body: JSON.stringify(document) }
    })
    await store.db.insertInto('documents').values(rows).execute()
  }
  if (store.engine === 'postgres') await sql`vacuum analyze documents`.execute(store.db)
  await store.close()
}

/** Creates an index, and waits until it is ready. Returns the times of inserts beside its build, ms. */
async function build({ call }: Node, collection: string, name: string, fields: readonly string[]) {
  await call('PUT', `/_db/library/_index/${collection}/${name}`, { fields })
  const begun = performance.now()
  const pending: Promise<number>[] = []
  const insert = async () => {
    const sent = performance.now()
    await call('POST', '/_db/library/others', NEW)
    return performance.now() - sent
  }
  const timer = setInterval(() => pending.push(insert()), INSERT_PERIOD)
  for (let isReady = false; !isReady; await pause(100)) {
    const { json } = await call('GET', `/_db/library/_index/${collection}`)
    isReady = json.find((each: { name: string }) => each.name === name).state === 'ready'
  }
  clearInterval(timer)
  return { time: performance.now() - begun, times: await Promise.all(pending) }
}

/** Measures readers alone and beside two scans that begin again when they end. */
async function besideScans({ host, token, call }: Node): Promise<void> {
  const requests = queriesOf(
    (at) => get(host, PORT, `/_db/library/articles/${idOf(at)}`, token),
    MANY,
  )
  const load = await openLoad({ host, port: PORT }, requests, CONNECTIONS, true)
  const run = async () => {
    const { answers, time, times } = await load.run(READING)
    return { rate: (answers / time) * 1_000, times }
  }
  await run()
  const alone = await run()
  let isDone = false
  let scans = 0
  const scan = async () => {
    for (; !isDone; scans++) {
      await call('GET', '/_db/library/articles?title:contains=nothing&limit=1').catch(() => {})
    }
  }
  const scanning = Promise.all([scan(), scan()])
  const beside = await run()
  isDone = true
  await scanning
  load.close()
  const ratio = beside.rate / alone.rate
  const what = 'readers beside 2 scans : alone'
  addFigure({ what, value: ratio.toFixed(2), target: 'at least 0.7', isMet: ratio >= 0.7 })
  print(
    `  ${what.padEnd(38)} ${ratio.toFixed(2).padEnd(26)} ` +
      `wanted: at least 0.7 – ${verdict(ratio >= 0.7)} (${scans} scans ended)`,
  )
  showTimes('reads beside 2 scans, ms, median (p99)', beside.times, 20)
}

async function startJsonServer(host: string) {
  const folder = makeFolder('json-server-queries')
  const articles = Array.from({ length: SMALL }, (_, at) => documentOf(at, SMALL))
  const file = join(folder, 'articles.json')
  writeFileSync(file, JSON.stringify({ articles }))
  const cli = installJsonServer(folder)
  if (cli === undefined) return undefined
  return startProcess(
    process.execPath,
    [cli, '--host', host, '--port', String(PORT), file],
    process.env,
    () => respondsOk(host, PORT, `/articles/${idOf(0)}`),
  )
}

/** Copies the documents to a plain table, and starts a process that queries it. */
async function startPlain(databaseUrl: string, host: string) {
  const store = await openStore({ databaseUrl }, 'tool')
  await sql`
    create table plain as
    select id, cast(body as json) ->> 'author' as author,
      cast(cast(body as json) ->> 'n' as bigint) as n, body
    from documents where collection = 'articles'`.execute(store.db)
  await sql`create index on plain (author, id)`.execute(store.db)
  await sql`create index on plain (n, id)`.execute(store.db)
  await sql`vacuum analyze plain`.execute(store.db)
  await store.close()
  const file = join(import.meta.dirname, 'peers/plain-postgres-process.ts')
  return startProcess(
    process.execPath,
    [file, host, String(PORT), databaseUrl],
    process.env,
    async (printed) => printed().includes('ready'),
  )
}

async function measureEngine(engine: string, location: StoreLocation): Promise<void> {
  print(engine)
  beginSection(engine)
  const pin = createPinning()
  const all = new Map<Kind, ServerLoad>()
  const addLoad = (
    kind: Kind,
    server: ServerLoad['server'],
    host: string,
    requests: string | string[],
  ) =>
    all.set(kind, {
      openLoad: () => openLoad({ host, port: PORT }, requests, CONNECTIONS, kind !== 'bare'),
      server,
    })

  const node = await startNode(location)
  const { host, server, token, call } = node
  await call('POST', '/_api/database', { name: 'library' })
  await fill(location, 'articles', MANY)
  await fill(location, 'small', SMALL)
  await call('POST', '/_db/library/others', NEW)
  for (const [name, fields] of [
    ['by-author', ['author']],
    ['by-n', ['n']],
    ['by-tags', ['tags', '-n']],
  ] as const) {
    await call('PUT', `/_db/library/_index/indexed/${name}`, { fields })
  }
  await build(node, 'small', 'by-author', ['author', '-n'])
  const built = await build(node, 'articles', 'by-author', ['author'])
  await build(node, 'articles', 'by-n', ['n'])
  print(`  index over ${count(MANY)} built in ${(built.time / 1_000).toFixed(1)} s`)
  showTimes('inserts beside the build, ms, median (p99)', built.times, 60)
  await besideScans(node)

  pin?.(server.process)
  const query = (path: string) => get(host, PORT, `/_db/library/${path}`, token)
  const equality = (at: number) => `author=${authorOf(at, MANY)}`
  const range = (at: number) => FIRST + Math.min(at, MANY - 200)
  const page = 'limit=10'
  addLoad(
    ...['equality' as const, server, host],
    queriesOf((at) => query(`articles?${equality(at)}&${page}`), MANY),
  )
  addLoad(
    ...['range' as const, server, host],
    queriesOf((at) => query(`articles?n:gte=${range(at)}&sort=n&limit=100`), MANY),
  )
  const created = (collection: string) =>
    post(host, PORT, `/_db/library/${collection}`, JSON.stringify(NEW), token)
  addLoad('insert', server, host, created('others'))
  addLoad('insertIndexed', server, host, created('indexed'))
  addLoad(
    ...['small' as const, server, host],
    queriesOf((at) => query(`small?author=${authorOf(at, SMALL)}&sort=-n&${page}`), SMALL),
  )

  const bareHost = nextHost()
  const bare = await startProcess(
    process.execPath,
    [...constantProcess(bareHost, PORT, JSON.stringify(documentOf(0, MANY)))],
    process.env,
    async (printed) => printed().includes('ready'),
  )
  pin?.(bare.process)
  addLoad('bare', bare, bareHost, get(bareHost, PORT, '/'))

  const jsonHost = nextHost()
  const jsonServer = 'data' in location ? await startJsonServer(jsonHost) : undefined
  if (jsonServer !== undefined) {
    pin?.(jsonServer.process)
    addLoad(
      ...['jsonServer' as const, jsonServer, jsonHost],
      queriesOf((at) => {
        const path = `/articles?author=${authorOf(at, SMALL)}&_sort=n&_order=desc&_limit=10`
        return get(jsonHost, PORT, path)
      }, SMALL),
    )
  }
  if ('databaseUrl' in location) {
    const plainHost = nextHost()
    const plain = await startPlain(location.databaseUrl, plainHost)
    pin?.(plain.process)
    const plainQuery = (path: string) => get(plainHost, PORT, path)
    addLoad(
      ...['plainEquality' as const, plain, plainHost],
      queriesOf((at) => plainQuery(`/equality?${authorOf(at, MANY)}`), MANY),
    )
    addLoad(
      ...['plainRange' as const, plain, plainHost],
      queriesOf((at) => plainQuery(`/range?${range(at)}`), MANY),
    )
  }

  const reads = await measure<Kind>(
    all,
    ['bare', 'equality', 'range', 'small', 'jsonServer', 'plainEquality', 'plainRange'],
    ROUNDS,
  )
  const inserts = await measure<Kind>(all, ['insert', 'insertIndexed'], ROUNDS)
  showSlices('Queries', reads, WHAT)
  showSlices('Inserts', inserts, WHAT)
  showRate('equality : bare node:http', reads, ['equality', 'bare'], 0.15)
  showTimes('equality, ms, median (p99)', timesOf(reads, 'equality'), 20)
  showRate('range and sort : bare node:http', reads, ['range', 'bare'], 0.04)
  showTimes('range and sort, ms, median (p99)', timesOf(reads, 'range'), 20)
  if (reads.has('jsonServer')) {
    showRate('filter and sort : json-server', reads, ['small', 'jsonServer'])
  }
  if (reads.has('plainEquality')) {
    showRate('equality : pg', reads, ['equality', 'plainEquality'])
    showRate('range and sort : pg', reads, ['range', 'plainRange'])
  }
  showRate('insert, 3 indexes : without', inserts, ['insertIndexed', 'insert'], 0.5)
  showTimes('insert, 3 indexes, ms, median (p99)', timesOf(inserts, 'insertIndexed'), 60)
  print()
  await Promise.all([server.stop(), bare.stop()])
}

const timesOf = (slices: ReadonlyMap<Kind, readonly Slice[]>, kind: Kind) =>
  (slices.get(kind) ?? []).flatMap(({ times }) => times)

printMachine()
if (options.engine !== 'postgres') await measureEngine('SQLite', { data: makeFolder('queries') })
if (options.engine !== 'sqlite') {
  const { url: databaseUrl, stop } = await startPostgres()
  try {
    await measureEngine('PostgreSQL', { databaseUrl })
  } finally {
    await stop()
  }
}
printEnd()
// Exiting stops all started processes and removes their files.
process.exit()
