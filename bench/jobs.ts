import { parseArgs } from 'node:util'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { SECRETS } from '../server/nodes/integration/node-processes.testing.ts'
import { killProcesses, startProcess } from '../server/test-support/server-process.testing.ts'
import { makeToken } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import { measureDuringJobs } from './load/measure-during-jobs.ts'
import { quantile } from './load/statistics.ts'
import { print, printEnd, printMachine, verdict } from './report.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'

// Measures reads and inserts of other clients while jobs create, change and delete many documents,
// on both engines. docs/benchmarks.md explains the measurements.
//
//   npm run bench:jobs
//   npm run bench:jobs -- --documents 100000

const { values: options } = parseArgs({
  options: { documents: { type: 'string', default: '200000' } },
})
/** Number of documents that each job creates, changes or deletes. */
const DOCUMENTS = Number(options.documents)

/** Limit of the 99th percentile of other requests, ms. */
const MAX_P99 = 60

const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({
  id: `d${1_000_000 + n}`,
  title: `Document ${n}`,
  text: 'x'.repeat(80),
}))

async function measure(engine: string, databaseUrl: string | undefined): Promise<void> {
  const data = makeFolder(engine)
  const [port = 0] = await freePorts(1)
  const store = databaseUrl === undefined ? ['--data', data] : ['--database-url', databaseUrl]
  const node = await startProcess([...store, '--endpoint', `tcp://127.0.0.1:${port}`], {
    nodeFlags: NODE_FLAGS,
    env: databaseUrl === undefined ? {} : SECRETS,
  })
  const token = `Bearer ${await makeToken({ data, databaseUrl })}`
  const { reads, inserts, jobs } = await measureDuringJobs(
    { host: '127.0.0.1', port, token },
    documents,
  )
  for (const [what, times] of [
    ['read by id', reads],
    ['insert', inserts],
  ] as const) {
    const shown = [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1))
    const isMet = quantile(times, 0.99) < MAX_P99
    addFigure({
      what: `${engine}: ${what} during jobs, p99, ms`,
      value: shown[1] ?? '',
      target: `under ${MAX_P99}`,
      isMet,
    })
    print(`| ${engine}: ${what} | ${shown.join(' | ')} | ${verdict(isMet)} |`)
  }
  const took = jobs.map(({ kind, time }) => `${kind} ${(time / 1000).toFixed(1)} s`)
  print(`| ${engine}: jobs | ${took.join(', ')} | | | |`)
  node.signal('SIGTERM')
  await node.exit
}

const { url, stop } = await startPostgres(['fsync=on'])
try {
  printMachine()
  print()
  print(
    `| ms, during jobs of ${DOCUMENTS.toLocaleString('en')} documents | median | 99 % | longest | 99 % < ${MAX_P99} ms |`,
  )
  print('|---|---:|---:|---:|---|')
  await measure('SQLite', undefined)
  await measure('PostgreSQL', url)
  print()
  printEnd()
} finally {
  await killProcesses()
  await stop()
}
