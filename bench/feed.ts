import { readFileSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { freePorts } from '../server/endpoints/listeners/free-ports.testing.ts'
import { SECRETS } from '../server/nodes/integration/node-processes.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../server/test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../server/test-support/start.testing.ts'
import { addFigure } from './figures.ts'
import { quantile } from './load/statistics.ts'
import { print, printEnd, printMachine, verdict } from './report.ts'
import { makeFolder } from './servers/folder.ts'
import { startPostgres } from './servers/postgres.ts'

// Measures inserts with and without a feed, the time until a change reaches a follower, and many
// followers of one collection. docs/benchmarks.md explains the measurements.
//
//   npm run bench:feed
//   npm run bench:feed -- --followers 100

const { values: options } = parseArgs({
  options: {
    followers: { type: 'string', default: '1000' },
    /** Length of a round of inserts, s. */
    seconds: { type: 'string', default: '3' },
  },
})
const FOLLOWERS = Number(options.followers)
const SECONDS = Number(options.seconds)
const ROUNDS = 5
const CLIENTS = 16

interface Target {
  readonly port: number
  readonly token: string
  readonly process: ServerProcess
}

const agent = new Agent({ keepAlive: true })
let created = 0

/** Inserts a document; resolves with when the response arrived. */
function insert({ port, token }: Target, collection: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const options = { port, agent, method: 'POST', path: `/${collection}`, headers }
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      if (response.statusCode !== 201) reject(new Error(`status ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now()))
    })
    sent.on('error', reject)
    sent.end(
      JSON.stringify({ id: `d${++created}`, sent: performance.now(), text: 'x'.repeat(200) }),
    )
  })
}

/** Returns the inserts per second of some clients. */
async function insertsPerSecond(node: Target, collection: string): Promise<number> {
  const until = performance.now() + SECONDS * 1_000
  let count = 0
  const client = async () => {
    for (; performance.now() < until; count++) await insert(node, collection)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return count / SECONDS
}

/** Follows a collection; records how long each change took, ms. Resolves with the end. */
function follow({ port, token }: Target, took: number[]): Promise<() => void> {
  const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' }
  const path = '/_feed/followed/changes?include=document'
  return new Promise((resolve, reject) => {
    const sent = get({ port, path, headers, agent: false }, (response) => {
      response.setEncoding('utf8')
      response.on('error', () => {})
      response.on('data', (text: string) => {
        const now = performance.now()
        for (const [, at] of text.matchAll(/"sent":([0-9.]+)/g)) took.push(now - Number(at))
      })
      response.once('data', () => resolve(() => sent.destroy()))
    })
    sent.on('error', reject)
  })
}

/** Returns the processor time of a node so far, s. */
const processorTimeOf = ({ process }: Target) => {
  const fields = readFileSync(`/proc/${process.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const memoryOf = ({ process }: Target) =>
  Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1]) / 1024

function report(what: string, value: number, target: string, isMet: boolean, unit: string): void {
  const shown = `${value < 10 ? value.toFixed(2) : Math.round(value)}${unit}`
  addFigure({ what, value: shown, target, isMet })
  print(`| ${what} | ${shown} | ${target} | ${verdict(isMet)} |`)
}

async function measure(engine: string, databaseUrl: string | undefined): Promise<void> {
  const data = makeFolder(engine)
  const store = databaseUrl === undefined ? ['--data', data] : ['--database-url', databaseUrl]
  const start = async (name: string): Promise<Target> => {
    const [port = 0] = await freePorts(1)
    const flags = [...store, '--node', name, '--endpoint', `tcp://127.0.0.1:${port}`]
    const env = databaseUrl === undefined ? {} : SECRETS
    const process = await startProcess(flags, { nodeFlags: NODE_FLAGS, env })
    return { port, process, token: await makeToken({ data, databaseUrl }) }
  }
  const node = await start('a')
  const headers = { Authorization: `Bearer ${node.token}` }
  const turnOn = (name: string) =>
    sendRequest(node.port, 'PUT', `/_feed/${name}`, { body: {}, headers })
  // A follower begins with the first change that is kept.
  const forgetChanges = async () => {
    await sendRequest(node.port, 'DELETE', '/_feed/followed', { headers })
    await turnOn('followed')
  }

  await insertsPerSecond(node, 'plain')
  const without: number[] = []
  const beside: number[] = []
  const withFeed: number[] = []
  for (let round = 0; round < ROUNDS; round++) without.push(await insertsPerSecond(node, 'plain'))
  await turnOn('fed')
  for (let round = 0; round < ROUNDS; round++) {
    withFeed.push(await insertsPerSecond(node, 'fed'))
    beside.push(await insertsPerSecond(node, 'plain'))
  }
  const base = quantile(without)
  print(`| ${engine}: inserts a second without any feed | ${Math.round(base)} | | |`)
  const [ratio, other] = [quantile(withFeed) / base, quantile(beside) / base]
  report(
    `${engine}: inserts with a feed, of those without`,
    ratio,
    'at least 0.7',
    ratio >= 0.7,
    '',
  )
  print(`| ${engine}: inserts beside a feed, of those without | ${other.toFixed(2)} | | |`)

  const places = [['same node', node, 15] as const]
  if (databaseUrl !== undefined) places.push(['another node', await start('b'), 30] as never)
  for (const [where, from, limit] of places) {
    await forgetChanges()
    const took: number[] = []
    const end = await follow(from, took)
    for (let n = 0; n < 100; n++) {
      await insert(node, 'followed')
      await pause(20)
    }
    end()
    const median = quantile(took)
    report(
      `${engine}: change to a follower, ${where}`,
      median,
      `at most ${limit} ms`,
      median <= limit,
      ' ms',
    )
  }

  await forgetChanges()
  const before = memoryOf(node)
  const took: number[] = []
  const tokens = [node.token]
  while (tokens.length * 100 < FOLLOWERS) tokens.push(await makeToken({ data, databaseUrl }))
  const ends: (() => void)[] = []
  for (let n = 0; n < FOLLOWERS; n++) {
    ends.push(await follow({ ...node, token: tokens[n % tokens.length] ?? '' }, took))
  }
  const sends: Promise<number>[] = []
  const [begun, used] = [performance.now(), processorTimeOf(node)]
  for (let n = 0; n < 1_000; n++) {
    sends.push(insert(node, 'followed'))
    await pause(10)
  }
  await Promise.all(sends)
  await pause(1_000)
  const share = (processorTimeOf(node) - used) / ((performance.now() - begun) / 1_000)
  print(`| ${engine}: ${FOLLOWERS} followers, cores used | ${share.toFixed(2)} | | |`)
  const grown = memoryOf(node) - before
  for (const end of ends) end()
  const [p99, missing] = [quantile(took, 0.99), FOLLOWERS * 1_000 - took.length]
  print(`| ${engine}: changes that did not arrive | ${missing} | | |`)
  report(`${engine}: ${FOLLOWERS} followers, p99`, p99, 'at most 250 ms', p99 <= 250, ' ms')
  report(`${engine}: ${FOLLOWERS} followers, memory`, grown, 'at most 60 MB', grown <= 60, ' MB')
  await killProcesses()
}

const { url, stop } = await startPostgres(['fsync=on'])
try {
  printMachine()
  print()
  print('| feed | figure | target | |')
  print('|---|---:|---|---|')
  await measure('SQLite', undefined)
  await measure('PostgreSQL', url)
  print()
  printEnd()
} finally {
  await killProcesses()
  await stop()
}
