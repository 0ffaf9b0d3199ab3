import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { SECRETS } from '../server/nodes/integration/node-processes.testing.ts'
import { killProcesses, startProcess } from '../server/test-support/server-process.testing.ts'
import { makeToken } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import {
  exportDocuments,
  importDocuments,
  measureDuringTransfer,
  type TransferMeasurements,
} from './load/measure-during-transfer.ts'
import { quantile } from './load/statistics.ts'
import { count, print, printEnd, printMachine, verdict } from './report.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'

// Measures an import and exports of many documents in one request each, and reads and inserts of
// other clients at the same time, on both engines. docs/benchmarks.md explains the measurements.
//
//   npm run bench:documents
//   node bench/transfer.ts --engine postgres --short    # one engine; only the transfers with a target

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'both' },
    short: { type: 'boolean', default: false },
  },
})

const DOCUMENTS = Number(process.env.GATEHOUSE_BENCH_DOCUMENTS ?? 1_000_000)

/** Targets: documents per second, ms, and bytes. */
const TARGET = { import: 40_000, export: 150_000, p99: 60, memory: 64 * 1024 * 1024 } as const

const lineOf = (at: number) =>
  JSON.stringify({
    id: `article-${String(at).padStart(8, '0')}`,
    title: 'On the measurement of servers',
    author: 'ada',
    year: 2026,
    tags: ['a', 'b'],
  })

/** The exports: their names, numbers of lines, and headers. */
const EXPORTS = [
  ['NDJSON', DOCUMENTS, { Accept: 'application/x-ndjson' }],
  ['NDJSON, zstd', DOCUMENTS, { Accept: 'application/x-ndjson', 'Accept-Encoding': 'zstd' }],
  ['CSV', DOCUMENTS + 1, { Accept: 'text/csv' }],
] as const

async function measure(engine: string, databaseUrl: string | undefined): Promise<void> {
  const data = makeFolder(`import-${engine}`)
  const [port = 0] = await freePorts(1)
  const store = databaseUrl === undefined ? ['--data', data] : ['--database-url', databaseUrl]
  let token = ''
  /** Measures a transfer of a new process, whose memory no earlier transfer has grown. */
  const transfer = async (run: Parameters<typeof measureDuringTransfer>[1]) => {
    // Earlier writes would delay those of the transfer.
    execFileSync('sync')
    const node = await startProcess([...store, '--endpoint', `tcp://127.0.0.1:${port}`], {
      nodeFlags: NODE_FLAGS,
      env: databaseUrl === undefined ? {} : SECRETS,
    })
    token ||= `Bearer ${await makeToken({ data, databaseUrl })}`
    const result = await measureDuringTransfer(
      { host: '127.0.0.1', port, token, pid: node.pid },
      run,
    )
    node.signal('SIGTERM')
    await node.exit
    return result
  }
  const imported = await transfer(importDocuments(DOCUMENTS, lineOf))
  show(`${engine}, import as NDJSON`, imported, TARGET.import)
  for (const [name, lines, headers] of EXPORTS.slice(0, values.short ? 1 : undefined)) {
    const exported = await transfer(exportDocuments(lines, headers))
    const target = name === 'NDJSON' ? TARGET.export : undefined
    show(`${engine}, export as ${name}`, exported, target)
  }
}

/** Prints the rows of a transfer. @param target documents per second, if there is a target. */
function show(
  what: string,
  { reads, inserts, time, memory }: TransferMeasurements,
  target?: number,
) {
  const rate = DOCUMENTS / (time / 1000)
  const isRateMet = target === undefined ? '' : verdict(rate >= target)
  print(`| ${what}: documents/s | ${count(rate)} | ${isRateMet} |`)
  const mib = Math.round(memory / 1024 / 1024)
  if (target !== undefined) {
    addFigure({
      what: `${what}: documents/s`,
      value: count(rate),
      target: `at least ${count(target)}`,
      isMet: rate >= target,
    })
  }
  addFigure({
    what: `${what}: memory, MiB`,
    value: `+ ${mib}`,
    target: 'at most + 64',
    isMet: memory <= TARGET.memory,
  })
  print(`| ${what}: memory | + ${mib} MiB | ${verdict(memory <= TARGET.memory)} |`)
  for (const [other, times] of [
    ['read by id', reads],
    ['insert', inserts],
  ] as const) {
    const [half, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1))
    const isMet = quantile(times, 0.99) < TARGET.p99
    addFigure({
      what: `${what}: concurrent ${other}, p99, ms`,
      value: p99 ?? '',
      target: `under ${TARGET.p99}`,
      isMet,
    })
    print(
      `| ${what}: ${other}, median, 99 %, longest | ${half}, ${p99}, ${longest} ms | ${verdict(isMet)} |`,
    )
  }
}

const { url, stop } = await startPostgres(['fsync=on'])
try {
  printMachine()
  print()
  print(`| ${count(DOCUMENTS)} documents | result | target |`)
  print('|---|---:|---|')
  if (values.engine !== 'postgres') await measure('SQLite', undefined)
  if (values.engine !== 'sqlite') await measure('PostgreSQL', url)
  print()
  printEnd()
} finally {
  await killProcesses()
  await stop()
}
