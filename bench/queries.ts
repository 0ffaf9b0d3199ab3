import { parseArgs } from 'node:util'
import type { StoreLocation } from '../server/storage/open.ts'
import { openLoad } from './load/load.ts'
import {
  CONNECTIONS,
  createPinning,
  get,
  measure,
  post,
  printRate,
  type ServerLoad,
  type Slice,
  showRate,
  showSlices,
  showTimes,
} from './load/rounds.ts'
import { startJsonServer } from './peers/json-server.ts'
import { startPlainPostgres } from './peers/plain-postgres.ts'
import { startBareServer } from './peers/start-peer.ts'
import { authorOf, documentOf, FIRST, NEW, queriesOf } from './queries/articles.ts'
import { measureDuringScans } from './queries/measure-during-scans.ts'
import { buildIndex, startNode } from './queries/node.ts'
import { count, print, printEnd, printMachine } from './report.ts'
import { nextHost, FIRST_PORT as PORT } from './servers/address.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'
import { settleStore, storeDocuments } from './servers/store-documents.ts'

// Measures queries that indexes serve, scans during reads, and inserts into a collection with
// indexes, on both engines. docs/benchmarks.md explains the measurements.
//
//   npm run bench:queries
//   npm run bench:queries -- --documents 20000 --rounds 3 --engine sqlite

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '30' },
    'warm-up': { type: 'string', default: '2000' },
    engine: { type: 'string', default: 'both' },
  },
})
const MANY = Number(options.documents)
const ROUNDS = {
  rounds: Number(options.rounds),
  slice: 400,
  warmUp: Number(options['warm-up']),
}
const SMALL = 10_000

/** Time of load after which V8 has optimized the code of a query, ms. */
const OPTIMIZED_AFTER = 6_000

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

async function measureEngine(engine: string, location: StoreLocation): Promise<void> {
  print(engine)
  const all = new Map<Kind, ServerLoad>()
  const addLoad = (
    kind: Kind,
    server: ServerLoad['server'],
    host: string,
    requests: string | string[],
  ) =>
    all.set(kind, {
      openLoad: () => openLoad({ host, port: PORT }, requests, CONNECTIONS, true),
      server,
      minWarmUp: kind === 'equality' ? OPTIMIZED_AFTER : undefined,
    })

  const node = await startNode(location)
  const { host, server, token, call } = node
  await call('POST', '/_api/database', { name: 'library' })
  // Stored with the documents: building them would take longer.
  await buildIndex(node, 'articles', 'by-n', ['n'])
  await buildIndex(node, 'small', 'by-author', ['author', '-n'])
  for (const [collection, size] of [
    ['articles', MANY],
    ['small', SMALL],
  ] as const) {
    await storeDocuments(location, 'library', collection, size, (at) => documentOf(at, size))
  }
  await call('POST', '/_db/library/others', NEW)
  for (const [name, fields] of [
    ['by-author', ['author']],
    ['by-n', ['n']],
    ['by-tags', ['tags', '-n']],
  ] as const) {
    await call('PUT', `/_db/library/_index/indexed/${name}`, { fields })
  }
  await settleStore(location)
  const built = await buildIndex(node, 'articles', 'by-author', ['author'])
  print(`  index over ${count(MANY)} built in ${(built.time / 1_000).toFixed(1)} s`)
  showTimes('inserts during the build, ms, median (p99)', built.times, 60)

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
  const bare = await startBareServer(bareHost, PORT, JSON.stringify(documentOf(0, MANY)))
  addLoad('bare', bare, bareHost, get(bareHost, PORT, '/'))

  const jsonHost = nextHost()
  const articles = Array.from({ length: SMALL }, (_, at) => documentOf(at, SMALL))
  const jsonServer =
    'data' in location ? await startJsonServer({ host: jsonHost, port: PORT }, articles) : undefined
  if (jsonServer !== undefined) {
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
    const plain = await startPlainPostgres(location.databaseUrl, plainHost, PORT)
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

  await settleStore(location)
  await measureDuringScans(node, MANY)
  // From here on: scans and builds use all cores.
  const pinning = createPinning()
  for (const { process } of new Set([...all.values()].map((load) => load.server))) {
    pinning?.pin(process)
  }
  const reads = await measure<Kind>(
    all,
    ['bare', 'equality', 'range', 'small', 'jsonServer', 'plainEquality', 'plainRange'],
    { ...ROUNDS, share: 0.7 },
  )
  const inserts = await measure<Kind>(all, ['insert', 'insertIndexed'], { ...ROUNDS, share: 1 })
  showSlices('Queries', reads, WHAT)
  showSlices('Inserts', inserts, WHAT)
  const bareColumn = { 'node:http': 'bare' } as const
  showRate('equality : bare node:http', reads, ['equality', 'bare'], 0.15, bareColumn)
  const bareTimes = timesOf(reads, 'bare')
  showTimes('equality, ms, median (p99)', timesOf(reads, 'equality'), 20, bareTimes)
  showRate('range and sort : bare node:http', reads, ['range', 'bare'], 0.04, bareColumn)
  showTimes('range and sort, ms, median (p99)', timesOf(reads, 'range'))
  if (reads.has('jsonServer')) {
    showRate('filter and sort : bare node:http', reads, ['small', 'bare'], undefined, {
      ...bareColumn,
      'json-server': 'jsonServer',
    })
    printRate('filter and sort : json-server', reads, ['small', 'jsonServer'])
  }
  if (reads.has('plainEquality')) {
    showRate('equality : pg', reads, ['equality', 'plainEquality'])
    showTimes('pg, equality, ms, median (p99)', timesOf(reads, 'plainEquality'))
    showRate('range and sort : pg', reads, ['range', 'plainRange'])
  }
  showRate('insert, 3 indexes : without', inserts, ['insertIndexed', 'insert'], 0.5)
  showTimes('insert, 3 indexes, ms, median (p99)', timesOf(inserts, 'insertIndexed'), 60)
  print()
  pinning?.end()
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
